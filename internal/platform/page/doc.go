// Package page has the common look of all pages. The console, the demo, the API and the sandbox provider have pages. It
// has the stylesheets, the icon and the lines of the head that lead to them, and imports nothing of ours.
//
// Pico sets the basics. base.css adds the colours and the marks of states, each in light and dark: a state is always
// a word with a shape beside it, and its colour comes third. What only one site has stands in a stylesheet of its own.
package page
