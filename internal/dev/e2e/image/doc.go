// Package image tests the image that scripts/image has built. It starts the image as a container runtime would: with
// its user, its commands, a root file system that is read-only, and nothing to write to but /state.
package image
