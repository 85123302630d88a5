// Package insert fills tables over the MySQL protocol by INSERT statements of many rows, for the workloads of package bench.
package insert
