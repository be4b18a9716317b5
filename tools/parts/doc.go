// Command parts lists what the program paylatch is made of besides its own code: the Go modules that are linked, the
// standard library, and the files of others that are embedded. From that come THIRD_PARTY.md, with the licence of each
// part, and the embedded parts of the SBOM.
//
//	go test ./tools/parts -update    writes THIRD_PARTY.md
//	go run ./tools/parts sbom FILE   prints a CycloneDX document of the modules with the embedded parts added
//
// A part without a licence that is recognised by its text is an error, and so is a minified file in the program that
// is not among the embedded parts.
package main
