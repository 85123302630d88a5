//go:build !race

package ddl_test

const scale = 1
