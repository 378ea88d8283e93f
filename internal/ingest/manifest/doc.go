// Package manifest reads Kubernetes objects from files: YAML or JSON, one or many
// documents, lists as kubectl writes them, whole directories, standard input.
//
// It gives typed objects to internal/ingest. Kinds that no decision depends on are skipped and counted.
// Problems are reported with file, document, object and field.
//
// How strict it is: an unknown field is an error in the kinds that users write
// for Tenon (NodePool, NodeOverlay, EC2NodeClass: under spec, where a typing error
// changes what is bought) and in catalogues, and a warning everywhere else, since a newer
// cluster's kubectl output has fields that we do not know and must be read as it is. A
// value of the wrong type is always an error.
//
// The package reads; it decides nothing and writes nothing.
package manifest
