// Package proof proves one capture for consoles: it folds its frames again and holds what is stored of it
// against them.
package proof
