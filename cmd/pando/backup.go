package main

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/pandodb/pando/server"
	"github.com/pandodb/pando/transfer"
)

// backupCommand has a running server copy its files.
func backupCommand(env []string, stdout io.Writer) *cobra.Command {
	command := &cobra.Command{
		Use:   "backup DIR",
		Short: "Have a running server copy its data to a new directory (ADMIN BACKUP TO)",
		Long: "Have a running server copy its data to a directory that is new or empty, on the server's machine, while everything goes on. On the same file system\n" +
			"tables are hard links, which cost nothing; on another they are copied. All commits that were acknowledged before are in the copy. pando restore makes a data\n" +
			"directory of it. The account needs the privilege SUPER. Ctrl-C ends it, and leaves nothing.",
		Args: cobra.ExactArgs(1),
	}
	client := loginFlags(command, env, superAccount)
	command.RunE = func(_ *cobra.Command, args []string) error {
		dir, err := filepath.Abs(args[0])
		if err != nil {
			return fmt.Errorf("backup: %w", err)
		}
		ctx, stop := untilInterrupted()
		defer stop()
		l := client.login()
		_, rows, err := l.QueryRows(ctx, "ADMIN BACKUP TO "+transfer.Literal(dir))
		if err != nil {
			return fmt.Errorf("backup: %w", client.explain(err))
		}
		for _, v := range rows {
			fmt.Fprintf(stdout, "%s holds all commits up to timestamp %s: %s files with %s bytes, %s of them copied, in %s\n", v[0], v[4], v[1], v[2], v[3], v[5])
		}
		return nil
	}
	return command
}

// restoreCommand makes a data directory of a backup.
func restoreCommand(stdout io.Writer) *cobra.Command {
	var from, dir string
	command := &cobra.Command{
		Use:   "restore --from BACKUP --data-dir NEW",
		Short: "Make a data directory of a backup",
		Long: "Make a data directory of a backup; NEW must be absent or empty, and pando start serves it afterwards. Every file is compared with its checksum on the way.\n" +
			"Tables, which nobody writes to, are hard links if both directories are on one file system; everything else is copied. The backup stays as it is, and can be\n" +
			"restored any number of times.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := untilInterrupted()
			defer stop()
			server.KeepPrivate()
			made, err := server.Restore(ctx, from, dir)
			if err != nil {
				return fmt.Errorf("restore: %w", err)
			}
			fmt.Fprintf(stdout, "%s has the data of a backup begun at %s (Pando %s, store %d, commits up to timestamp %d): %d files with %d bytes, %d of them copied\n",
				dir, made.Began.UTC().Format(time.RFC3339), made.Program, made.Store, uint64(made.Timestamp), made.Files, made.Bytes, made.CopiedBytes)
			return nil
		},
	}
	flags := command.Flags()
	flags.StringVar(&from, "from", "", "directory of the backup")
	flags.StringVar(&dir, "data-dir", "", "directory to make, absent or empty")
	for _, name := range []string{"from", "data-dir"} {
		_ = command.MarkFlagRequired(name) // fails for unknown names only
	}
	return command
}
