package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pandodb/pando/server"
	"github.com/pandodb/pando/transfer"
)

// barWidth is that of the progress bar.
const barWidth = 30

// importCommand loads dumps.
func importCommand(env []string, stdout, stderr io.Writer) *cobra.Command {
	o := transfer.ImportOptions{}
	command := &cobra.Command{
		Use:   "import FILE|DIR...",
		Short: "Load dumps, exports and files of CSV into a server, in parallel transactions",
		Long: "Load files into a server of the MySQL protocol: dumps of pando export, mysqldump and others, files of CSV, and directories of them. INSERTs that follow each\n" +
			"other, and lines of CSV, are loaded in parallel transactions. A file of CSV is DATABASE.TABLE.csv or TABLE.csv, or --table says where it goes; its first line names\n" +
			"the columns. An import that is broken off goes on where it ended when it is started again with the same files; what is done is noted in the database pando_import\n" +
			"of the server, which is gone at the end.",
		Args: cobra.MinimumNArgs(1),
	}
	client := loginFlags(command, env, "account")
	checked := csvFlags(command, &o.CSV, &o.Format, "", "sql or csv, whatever the files' endings are (default: .csv is csv, all else sql)")
	command.RunE = func(_ *cobra.Command, paths []string) error {
		err := checked()
		if err != nil {
			return fmt.Errorf("import: %w", err)
		}
		o.Login, o.Paths = transfer.Login(client.login()), paths
		err = withBar(stderr, &o.Progress, func(ctx context.Context) error { return transfer.Import(ctx, o) })
		if err != nil {
			return fmt.Errorf("import: %w", client.explain(err))
		}
		fmt.Fprintln(stdout, "imported", strings.Join(paths, " "))
		return nil
	}
	command.Flags().StringVar(&o.Database, "database", "", "the current database at the beginning, made if absent")
	command.Flags().IntVar(&o.Connections, "connections", 4, "transactions at once")
	command.Flags().StringVar(&o.Table, "table", "", "of CSV: the table, or DATABASE.TABLE (default: as the files' names say)")
	command.Flags().StringSliceVar(&o.Columns, "columns", nil, "of CSV: the columns, whatever the first line names")
	command.Flags().StringVar(&o.Charset, "charset", "utf8mb4", "of CSV: the character set of the texts")
	command.Flags().BoolVar(&o.Restart, "restart", false, "forget what an import that was broken off has done")
	return command
}

// exportCommand writes dumps.
func exportCommand(env []string, stdout, stderr io.Writer) *cobra.Command {
	o := transfer.ExportOptions{}
	command := &cobra.Command{
		Use:   "export DIR",
		Short: "Write databases of a server as files of SQL or CSV: the state of one moment, over several connections",
		Long: "Write databases of a server of the MySQL protocol into an empty directory, as files of SQL that pando import and every client can load, with --format csv the\n" +
			"rows of each table as a file of CSV. All connections read the state of one moment: while they begin, FLUSH TABLES WITH READ LOCK holds writers up, for which the\n" +
			"account needs RELOAD; with one connection it is not needed.",
		Args: cobra.ExactArgs(1),
	}
	client := loginFlags(command, env, "account")
	csv, format := transfer.CSV{}, ""
	checked := csvFlags(command, &csv, &format, "sql", "sql or csv: how rows are written")
	command.RunE = func(_ *cobra.Command, args []string) error {
		err := checked()
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		if format == "csv" {
			o.CSV = &csv
		}
		server.KeepPrivate()
		o.Login, o.Dir = transfer.Login(client.login()), args[0]
		err = withBar(stderr, &o.Progress, func(ctx context.Context) error { return transfer.Export(ctx, o) })
		if err != nil {
			return fmt.Errorf("export: %w", client.explain(err))
		}
		fmt.Fprintln(stdout, "exported to", o.Dir)
		return nil
	}
	command.Flags().StringSliceVar(&o.Databases, "databases", nil, "databases to export (default all but the server's own)")
	command.Flags().IntVar(&o.Connections, "connections", 4, "connections that read at once")
	command.Flags().Int64Var(&o.RangeRows, "range-rows", 0, "about how many rows a file has, in tables with an integer key (default 100000; of CSV all)")
	return command
}

// csvFlags gives a command the flags of CSV. What it returns checks them when they are set.
func csvFlags(command *cobra.Command, o *transfer.CSV, format *string, standard, usage string) func() error {
	*o = transfer.DefaultCSV()
	flags := command.Flags()
	flags.StringVar(format, "format", standard, usage)
	flags.StringVar(&o.Separator, "separator", o.Separator, "of CSV: what is between fields; \\t is a tab")
	flags.StringVar(&o.Quote, "quote", o.Quote, "of CSV: the byte around fields, doubled within; empty for none")
	flags.StringVar(&o.Escape, "escape", o.Escape, "of CSV: the byte in front of others, as LOAD DATA has it; empty for none")
	flags.StringVar(&o.Null, "null", o.Null, "of CSV: what stands for NULL, where it is not quoted")
	flags.BoolVar(&o.NoHeader, "no-header", false, "of CSV: the first line is no list of columns")
	return func() error {
		o.Separator = strings.ReplaceAll(o.Separator, `\t`, "\t")
		if *format != "csv" && *format != "sql" && *format != standard {
			return fmt.Errorf("the format %q is neither sql nor csv", *format)
		}
		for _, name := range []string{"separator", "quote", "escape", "null", "no-header", "table", "columns", "charset"} {
			if *format == "sql" && flags.Changed(name) {
				return fmt.Errorf("--%s says how CSV is written: it needs --format csv", name)
			}
		}
		return nil
	}
}

// withBar does what takes long, and shows how far it is, until it ends or is interrupted.
func withBar(stderr io.Writer, progress *func(file string, done, total int64), do func(context.Context) error) error {
	ctx, stop := untilInterrupted()
	defer stop()
	bar := newBar(stderr)
	*progress = bar.show
	defer bar.end()
	return do(ctx)
}

// bar is a progress bar, on a terminal only.
type bar struct {
	w     io.Writer
	drawn string
}

func newBar(w io.Writer) *bar {
	file, ok := w.(*os.File)
	if !ok {
		return &bar{}
	}
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return &bar{}
	}
	return &bar{w: w}
}

// show draws how much is done. It is called by one goroutine at a time. A file that grows has more to do in the end than was counted.
func (b *bar) show(file string, done, total int64) {
	if b.w == nil {
		return
	}
	total = max(total, 1)
	done = min(done, total)
	full := int(barWidth * done / total)
	line := fmt.Sprintf("[%s%s] %3d%% %s", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), 100*done/total, filepath.Base(file))
	if line != b.drawn {
		fmt.Fprintf(b.w, "\r\x1b[K%s", line)
		b.drawn = line
	}
}

func (b *bar) end() {
	if b.w != nil && b.drawn != "" {
		fmt.Fprintln(b.w)
	}
}
