// Command parts lists the parts of the program besides its own code. They are the linked Go modules, the standard
// library, and embedded files of other projects. It writes THIRD_PARTY.md, with the licence of each part, and adds the
// embedded parts to the SBOM.
//
//	go test ./tools/parts -update    writes THIRD_PARTY.md
//	go run ./tools/parts sbom FILE   prints a CycloneDX document of the modules with the embedded parts added
//
// A part without a licence that is recognised by its text is an error. A minified file in the program that is not among the
// embedded parts is an error, too.
package main
