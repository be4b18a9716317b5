// Package docs has the text of the documentation. The service serves it as pages.
package docs

import "embed"

// Files has the Markdown pages under their paths in this folder.
//
//go:embed *.md */*.md */*/*.md
var Files embed.FS
