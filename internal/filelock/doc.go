// Package filelock takes locks of files. The kernel gives a lock up when its
// process dies, so one that can be taken proves that nobody holds it.
package filelock
