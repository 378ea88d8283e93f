// Package claims writes a draft down as claims: which pods are on which node, what else the node
// could be, and which nodes are given up because their pools ask for more choice or for a better
// price. Claims for the nodes that static pools lack are made here as well.
package claims
