# Perl's DBI with both of its drivers, DBD::mysql and DBD::MariaDB.
use strict;
use warnings FATAL => "all";
use utf8;
use Data::Dumper;
use DBI qw(:sql_types);
use File::Temp;
use IO::Select;

binmode $_, ":utf8" for *STDOUT, *STDERR;
$| = 1;
$Data::Dumper::Indent = 0;
$Data::Dumper::Terse = 1;
$Data::Dumper::Sortkeys = 1;
my $failed = 0;

sub check {
    my ($name, $step) = @_;
    if (eval { $step->(); 1 }) {
        print "ok - $name\n";
        return;
    }
    $failed = 1;
    print STDERR $@;
    (my $text = $@) =~ s/\s+/ /g;
    print "not ok - $name: ", substr($text, 0, 300), "\n";
}

sub equal {
    my ($got, $want) = map { Dumper($_) } @_;
    s/(?<![^\[, ])'(-?\d+)'(?=[,\] ]|\z)/$1/g for $got, $want; # a number or its text is the same to Perl
    die "got $got, want $want" if $got ne $want;
}

sub fails {
    my ($db, $step) = @_;
    eval { local $db->{PrintError} = 0; $step->(); 1 } and die "accepted";
    return $db->err;
}

sub trial {
    my ($driver, $own) = @_; # $own is what the driver's own attributes begin with
    my $database = $ENV{DATABASE} . ($own eq "mysql" ? "" : "_$own");
    my $connect = sub {
        my %more = @_;
        my $local = ";${own}_local_infile=1";
        $more{mysql_enable_utf8mb4} = 1 if $own eq "mysql";
        return DBI->connect("dbi:$driver:host=$ENV{HOST};port=$ENV{PORT};database=" . (delete $more{database} // $database) . $local . ";${own}_multi_statements=1", $ENV{DBUSER}, $ENV{PASSWORD},
            { RaiseError => 1, PrintError => 0, AutoCommit => 1, %more });
    };
    if ($own ne "mysql") {
        my $db = $connect->(database => $ENV{DATABASE});
        $db->do("CREATE DATABASE $database");
        $db->disconnect;
    }
    my $db = $connect->();

    for my $prepared (0, 1) {
        check("$driver: types there and back, " . ($prepared ? "prepared by the server" : "prepared by the client"), sub {
            local $db->{"${own}_server_prepare"} = $prepared;
            $db->do("DROP TABLE IF EXISTS types");
            $db->do("CREATE TABLE types (id BIGINT UNSIGNED PRIMARY KEY, d DECIMAL(20,5), f DOUBLE, t VARCHAR(50), b VARBINARY(50), da DATE, dt DATETIME(6), ti TIME, j JSON, n INT, e ENUM('x','y'), y YEAR)");
            my @values = ("18446744073709551615", "12345678901234.56789", "0.1", "Ünï 🚀 '\\\"", "\0\xff'\\", "2026-02-28", "2026-02-28 23:59:59.123456", "-30:00:01", '{"a": [1, 2]}', undef, "y", 2026);
            my $insert = $db->prepare("INSERT INTO types VALUES (?,?,?,?,?,?,?,?,CONVERT(? USING utf8mb4),?,?,?)");
            $insert->bind_param($_ + 1, $values[$_], $_ == 4 ? SQL_BLOB : SQL_VARCHAR) for 0 .. $#values;
            equal($insert->execute, 1);
            equal($db->selectrow_arrayref("SELECT * FROM types WHERE t = ? AND n IS NULL", undef, $values[3]), \@values);
            my $query = $db->prepare("SELECT id, t AS text, n FROM types WHERE id > ?");
            $query->execute(1);
            equal([$query->{NAME}, $query->{NULLABLE}[0] ? 1 : 0, $query->{NULLABLE}[2] ? 1 : 0, $query->{"${own}_is_pri_key"}[0] ? 1 : 0, $query->rows], [["id", "text", "n"], 0, 1, 1, 1]);
            $query->finish;
        });
    }

    check("$driver: relations, errors, upsert", sub {
        $db->do("CREATE TABLE author (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50) NOT NULL UNIQUE) COMMENT 'who writes'");
        $db->do("CREATE TABLE book (id INT AUTO_INCREMENT PRIMARY KEY, author_id INT NOT NULL, title VARCHAR(100), KEY (title), CONSTRAINT book_author FOREIGN KEY (author_id) REFERENCES author (id) ON DELETE CASCADE)");
        equal($db->do("INSERT INTO author (name) VALUES ('Ada'), ('Bo')"), 2);
        equal($db->last_insert_id(undef, undef, "author", "id"), 1);
        my $insert = $db->prepare("INSERT INTO book (author_id, title) VALUES (?, ?)");
        equal($insert->execute_array({ ArrayTupleStatus => \my @status }, [1, 1, 2], ["one", "two", "three"]), 3);
        equal($insert->{"${own}_insertid"}, 3);
        equal(fails($db, sub { $db->do("INSERT INTO author (name) VALUES ('Ada')") }), 1062);
        equal($db->state . "", "23000");
        equal(fails($db, sub { $db->do("INSERT INTO book (author_id) VALUES (99)") }), 1452);
        equal($db->do("INSERT INTO author (id, name) VALUES (1, 'Ada L.') ON DUPLICATE KEY UPDATE name = VALUES(name)"), 2);
        equal($db->do("UPDATE author SET name = 'Ada L.' WHERE id = 1"), 1); # the driver asks for the rows that were found
        equal($db->do("DELETE FROM author WHERE id = 99"), "0E0");
        equal($db->selectall_arrayref("SELECT a.name, COUNT(*) FROM author a JOIN book b ON b.author_id = a.id GROUP BY a.id ORDER BY a.id LIMIT ?, ?", undef, 1, 1), [["Bo", 1]]);
        equal($db->selectall_hashref("SELECT id, title FROM book", "id")->{2}{title}, "two");
        equal($db->selectcol_arrayref("SELECT title FROM book WHERE author_id = 1 ORDER BY id"), ["one", "two"]);
    });

    check("$driver: transactions, savepoints, locks", sub {
        $db->begin_work;
        $db->do("SAVEPOINT a");
        $db->do("DELETE FROM author");
        $db->do("ROLLBACK TO a");
        $db->do("INSERT INTO author (name) VALUES ('Cy')");
        $db->rollback;
        equal($db->selectrow_array("SELECT COUNT(*) FROM author"), 2);
        my $other = $connect->(AutoCommit => 0);
        $other->do("UPDATE author SET name = 'Eve' WHERE id = 1");
        equal(fails($db, sub { $db->selectrow_array("SELECT id FROM author WHERE id = 1 FOR UPDATE NOWAIT") }), 3572);
        equal($db->selectcol_arrayref("SELECT id FROM author FOR UPDATE SKIP LOCKED"), [2]);
        $db->do("SET SESSION innodb_lock_wait_timeout = 1");
        equal(fails($db, sub { $db->do("DELETE FROM author WHERE id = 1") }), 1205);
        $other->commit;
        equal($db->selectrow_array("SELECT name FROM author WHERE id = 1"), "Eve");
        equal($db->selectrow_array("SELECT GET_LOCK('job', 0)"), 1);
        equal($other->selectrow_array("SELECT GET_LOCK('job', 0)"), 0);
        $other->disconnect;
        $db->do("LOCK TABLES author WRITE");
        equal(fails($db, sub { $db->do("DELETE FROM types") }), 1100);
        equal($db->do("DELETE FROM book WHERE id = 99"), "0E0"); # locked with its parent
        $db->do("UNLOCK TABLES");
    });

    check("$driver: streams, several results", sub {
        $db->do("CREATE TABLE large AS WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT a.i * 1000 + b.i AS id, REPEAT('x', 50) AS pad FROM n a JOIN n b ON b.i <= 20");
        my $query = $db->prepare("SELECT id, pad FROM large");
        $query->{mysql_use_result} = 1 if $own eq "mysql"; # the other driver gives no rows then, whatever the server
        $query->execute;
        my ($rows, $sum) = (0, 0);
        while (my $row = $query->fetch) { $rows++; $sum += $row->[0] }
        equal([$rows, $sum], [20000, 10010210000]);
        my $call = $db->prepare("SELECT 1 AS a; DO 1; SELECT 2 AS b, 3 AS c");
        $call->execute;
        my @results;
        do { push @results, $call->fetchrow_arrayref && [@{ $call->{NAME} }] if $call->{NUM_OF_FIELDS} } while $call->more_results;
        equal(\@results, [["a"], ["b", "c"]]);
    });

    check("$driver: LOAD DATA LOCAL", sub {
        my $file = File::Temp->new;
        binmode $file, ":utf8";
        print $file map { "$_\té $_\n" } 0 .. 2999;
        close $file;
        $db->do("CREATE TABLE loaded (n INT PRIMARY KEY, t VARCHAR(20))");
        equal($db->do("LOAD DATA LOCAL INFILE '$file' INTO TABLE loaded CHARACTER SET utf8mb4 (n, \@t) SET t = REVERSE(\@t)"), 3000);
        equal($db->{"${own}_info"}, "Records: 3000  Deleted: 0  Skipped: 0  Warnings: 0");
        equal($db->selectrow_array("SELECT t FROM loaded WHERE n = 12"), "21 é");
    });

    check("$driver: the dictionary as DBI reads it", sub {
        my @tables = sort grep { /author|book|view/ } $db->tables(undef, $database, "%", "TABLE");
        equal(\@tables, ["`$database`.`author`", "`$database`.`book`"]);
        equal([$db->primary_key(undef, $database, "book")], ["id"]);
        my $columns = $db->column_info(undef, $database, "author", "%")->fetchall_arrayref({});
        equal([map { [@$_{qw(COLUMN_NAME TYPE_NAME COLUMN_SIZE NULLABLE ORDINAL_POSITION)}, $_->{"mysql_type_name"} // $_->{"mariadb_type_name"}] } @$columns],
            [["id", "INT", undef, 0, 1, "int"], ["name", "VARCHAR", 50, 0, 2, "varchar(50)"]]);
        my $keys = $db->foreign_key_info(undef, undef, undef, undef, $database, "book")->fetchall_arrayref({});
        my ($key) = grep { $_->{PKTABLE_NAME} } @$keys;
        equal([@$key{qw(PKTABLE_NAME PKCOLUMN_NAME FKTABLE_NAME FKCOLUMN_NAME KEY_SEQ FK_NAME)}], ["author", "id", "book", "author_id", 1, "book_author"]);
        my $statistics = $db->statistics_info(undef, $database, "book", 0, 1)->fetchall_arrayref({});
        equal([sort map { "$_->{INDEX_NAME} $_->{COLUMN_NAME} $_->{NON_UNIQUE}" } @$statistics], ["PRIMARY id 0", "book_author author_id 1", "title title 1"]);
        my $kinds = $db->type_info_all;
        equal(ref $kinds, "ARRAY");
        equal($db->get_info(17), "MySQL"); # SQL_DBMS_NAME
    });

    check("$driver: migration", sub {
        $db->do("ALTER TABLE book ADD COLUMN pages INT NOT NULL DEFAULT 0 AFTER title, ADD COLUMN added TIMESTAMP DEFAULT CURRENT_TIMESTAMP, ADD KEY by_pages (pages, title)");
        $db->do("ALTER TABLE book CHANGE title name VARCHAR(200) NOT NULL, DROP FOREIGN KEY book_author");
        $db->do("ALTER TABLE book ADD CONSTRAINT written_by FOREIGN KEY (author_id) REFERENCES author (id) ON UPDATE CASCADE, RENAME INDEX by_pages TO pages_name");
        equal([map { $_->[0] } @{ $db->selectall_arrayref("SHOW COLUMNS FROM book") }], ["id", "author_id", "name", "pages", "added"]);
        equal(fails($db, sub { $db->do("ALTER TABLE book DROP COLUMN nothing") }), 1091);
        $db->do("RENAME TABLE loaded TO kept");
        $db->do("DROP TABLE IF EXISTS kept, nowhere");
    });

    check("$driver: a connection that ends is made anew", sub {
        my $other = $connect->();
        $other->{"${own}_auto_reconnect"} = 1;
        my $id = $other->{"${own}_thread_id"} // $other->{mysql_thread_id};
        equal($other->selectrow_array("SELECT CONNECTION_ID()"), $id);
        $db->do("KILL $id");
        my $end = time + 20;
        while ($db->selectrow_array("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = $id") and time < $end) { select undef, undef, undef, 0.02 }
        equal($other->ping ? 1 : 0, 1);
        equal($other->selectrow_array("SELECT CONNECTION_ID() <> $id"), 1);
        $other->disconnect;
    });
    $db->disconnect;
}

trial("mysql", "mysql");
trial("MariaDB", "mariadb");
exit $failed;
