package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// object is a JSON object. Only some of its members matter here.
type object = map[string]any

var errBill = errors.New("not a CycloneDX document with components")

// completed is a CycloneDX document of the modules of the program with the licence of each, and with the embedded files. A module
// without a licence among parts is an error.
func completed(document []byte, list []part) (object, error) {
	var bill object
	if err := json.Unmarshal(document, &bill); err != nil {
		return nil, fmt.Errorf("read the modules: %w", err)
	}
	components, ok := bill["components"].([]any)
	if !ok || bill["bomFormat"] != "CycloneDX" {
		return nil, errBill
	}
	for _, c := range components {
		if err := license(c, list); err != nil {
			return nil, err
		}
	}
	about, _ := bill["metadata"].(object)
	root, _ := about["component"].(object)
	edges, _ := bill["dependencies"].([]any)
	if root == nil {
		return nil, errBill
	}
	delete(about, "timestamp") // the same binary has the same document
	root["licenses"] = licences([]string{"Apache-2.0"})
	var refs []any
	for _, e := range embedded() {
		refs = append(refs, e.purl)
		components = append(components, object{
			"type": "library", "bom-ref": e.purl, "name": e.name, "version": e.version, "purl": e.purl, "scope": "required",
			"hashes": []any{object{"alg": "SHA-256", "content": e.sum}}, "licenses": licences([]string{e.licence}),
			"properties": []any{object{"name": "paylatch:embedded", "value": e.path}},
		})
		edges = append(edges, object{"ref": e.purl})
	}
	for _, edge := range edges {
		if from, ok := edge.(object); ok && from["ref"] == root["bom-ref"] {
			on, _ := from["dependsOn"].([]any)
			from["dependsOn"] = append(on, refs...)
		}
	}
	bill["components"], bill["dependencies"] = components, edges
	return bill, nil
}

func license(component any, list []part) error {
	c, ok := component.(object)
	if !ok {
		return errBill
	}
	name, _ := c["name"].(string)
	i := slices.IndexFunc(list, func(p part) bool {
		return p.name == name || name == "std" && strings.HasPrefix(p.name, "the Go standard")
	})
	if i < 0 {
		return fmt.Errorf("%s: %w", name, errNoLicence)
	}
	c["licenses"] = licences(list[i].licences)
	return nil
}

func licences(ids []string) (all []any) {
	for _, id := range ids {
		all = append(all, object{"license": object{"id": id}})
	}
	return all
}
