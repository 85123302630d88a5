# Ruby's mysql2, and what ActiveRecord sends through it.
require "bigdecimal"
require "io/wait"
require "mysql2"
require "tempfile"
require "timeout"

$failed = false

def check(name)
  yield
  puts "ok - #{name}"
rescue Exception => e # also what is no StandardError fails a step
  $failed = true
  puts "not ok - #{name}: #{e.class}: #{e.message.split.join(' ')[0, 300]}"
  warn e.full_message(highlight: false)
ensure
  $stdout.flush
end

def equal(got, want)
  raise "got #{got.inspect}, want #{want.inspect}" if got != want
end

def fails
  yield
rescue Mysql2::Error => e
  e.error_number
else
  raise "accepted"
end

def connect(**more)
  Mysql2::Client.new(host: ENV["HOST"], port: ENV["PORT"].to_i, username: ENV["DBUSER"], password: ENV["PASSWORD"], database: ENV["DATABASE"], encoding: "utf8mb4",
                     database_timezone: :utc, application_timezone: :utc, **more)
end

db = connect(local_infile: true, flags: Mysql2::Client::FOUND_ROWS | Mysql2::Client::MULTI_STATEMENTS)
rows = ->(sql) { db.query(sql, as: :array).to_a }

check("what ActiveRecord sets at connect") do
  db.query("SET  @@SESSION.sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES'),  @@SESSION.sql_auto_is_null = 0, @@SESSION.wait_timeout = 2147483, @@SESSION.time_zone = '+00:00'")
  equal(rows.("SELECT @@SESSION.sql_mode LIKE '%STRICT_ALL_TABLES%'"), [[1]])
  equal(db.server_info[:version].to_i >= 8, true)
  equal(rows.("SHOW VARIABLES LIKE 'character_set_database'").flatten[1], "utf8mb4")
end

check("types there and back") do
  db.query("CREATE TABLE `types` (`id` bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, `d` decimal(20,5), `f` double, `t` varchar(50), `b` varbinary(50), `da` date, `dt` datetime(6), `ti` time, `j` json, `n` int, `bo` tinyint(1), `e` enum('x','y'), `y` year)")
  at = Time.utc(2026, 2, 28, 23, 59, 59, 123456)
  values = [18446744073709551615, BigDecimal("12345678901234.56789"), 0.1, "Ünï 🚀 '\\\"", "\0\xFF'\\".b, Date.new(2026, 2, 28), at, nil, '{"a": [1, 2]}', nil, true, "y", 2026]
  insert = db.prepare("INSERT INTO types VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)")
  insert.execute(*values.each_with_index.map { |v, i| i == 0 ? v.to_s : v })
  [db.prepare("SELECT * FROM types WHERE f = ?").execute(0.1, as: :array, cast_booleans: true).to_a, db.query("SELECT * FROM types", as: :array, cast_booleans: true).to_a].each { |got| equal(got, [values]) }
  result = db.query("SELECT id, t FROM types")
  equal(result.fields, %w[id t])
end

check("relations, errors, upsert") do
  db.query("CREATE TABLE `authors` (`id` bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, `name` varchar(50) NOT NULL, `created_at` datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), UNIQUE INDEX `index_authors_on_name` (`name`))")
  db.query("CREATE TABLE `books` (`id` bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, `author_id` bigint NOT NULL, `title` varchar(100), `lock_version` int DEFAULT 0, INDEX `index_books_on_author_id` (`author_id`), CONSTRAINT `fk_rails_1` FOREIGN KEY (`author_id`) REFERENCES `authors` (`id`) ON DELETE CASCADE)")
  db.query("INSERT INTO `authors` (`name`) VALUES ('Ada'), ('Bo')")
  equal([db.last_id, db.affected_rows], [1, 2])
  db.query("INSERT INTO books (author_id, title) VALUES (1, 'one'), (1, 'two'), (2, 'three')")
  equal(fails { db.query("INSERT INTO authors (name) VALUES ('Ada')") }, 1062)
  equal(fails { db.query("INSERT INTO books (author_id) VALUES (99)") }, 1452)
  db.query("INSERT INTO `authors` (`name`) VALUES ('Ada'),('Cy') AS `authors_values` ON DUPLICATE KEY UPDATE created_at=(CASE WHEN (`authors`.`name`<=>`authors_values`.`name`) THEN `authors`.created_at ELSE CURRENT_TIMESTAMP(6) END),`authors`.`name`=`authors_values`.`name`")
  equal(rows.("SELECT name FROM authors ORDER BY id").flatten, %w[Ada Bo Cy])
  equal(rows.("SELECT `authors`.`id`, COUNT(*) AS `count_all` FROM `authors` INNER JOIN `books` ON `books`.`author_id` = `authors`.`id` GROUP BY `authors`.`id` ORDER BY count_all DESC LIMIT 1 OFFSET 1"), [[2, 1]])
  db.query("UPDATE `books` SET `books`.`title` = 'ONE', `books`.`lock_version` = 1 WHERE `books`.`id` = 1 AND `books`.`lock_version` = 0")
  equal(db.affected_rows, 1)
  equal(rows.("SELECT 1 AS one FROM `books` WHERE `books`.`title` = BINARY 'ONE' LIMIT 1"), [[1]])
end

check("transactions, savepoints, locks") do
  db.query("BEGIN")
  db.query("SAVEPOINT active_record_1")
  db.query("DELETE FROM authors")
  db.query("ROLLBACK TO SAVEPOINT active_record_1")
  db.query("RELEASE SAVEPOINT active_record_1")
  db.query("COMMIT")
  equal(rows.("SELECT COUNT(*) FROM books"), [[3]])
  other = connect
  db.query("BEGIN")
  rows.("SELECT `authors`.* FROM `authors` WHERE `authors`.`id` = 1 LIMIT 1 FOR UPDATE")
  equal(fails { other.query("SELECT * FROM authors WHERE id = 1 FOR UPDATE NOWAIT") }, 3572)
  other.query("UPDATE authors SET name = CONCAT(name, '!') WHERE id = 1", async: true)
  equal(IO.for_fd(other.socket, autoclose: false).wait_readable(0.3), nil) # it waits
  db.query("COMMIT")
  other.async_result
  equal(rows.("SELECT name FROM authors WHERE id = 1"), [["Ada!"]])
  equal(rows.("SELECT GET_LOCK('migration', 0)"), [[1]])
  equal(other.query("SELECT GET_LOCK('migration', 0)", as: :array).to_a, [[0]])
  equal(rows.("SELECT RELEASE_LOCK('migration')"), [[1]])
  other.close
end

check("several statements and streams") do
  all = [db.query("SELECT 1 AS a; SELECT 2 AS b").to_a]
  all << db.store_result.to_a while db.next_result
  equal(all, [[{ "a" => 1 }], [{ "b" => 2 }]])
  db.query("CREATE TABLE large AS WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT a.i * 1000 + b.i AS id, REPEAT('x', 50) AS pad FROM n a JOIN n b ON b.i <= 20")
  n = sum = 0
  own = connect
  own.query("SELECT id, pad FROM large", stream: true, cache_rows: false).each { |r| n += 1; sum += r["id"] }
  equal([n, sum], [20000, 10010210000])
  statement = own.prepare("SELECT id FROM large WHERE id > ?")
  n = 0
  statement.execute(0, stream: true, cache_rows: false).each { n += 1 }
  equal(n, 20000)
  own.close
end

check("LOAD DATA LOCAL") do
  Tempfile.create("trial") do |file|
    file.write((0...3000).map { |i| "#{i}\té #{i}\n" }.join)
    file.flush
    db.query("CREATE TABLE loaded (n INT PRIMARY KEY, t VARCHAR(20))")
    db.query("LOAD DATA LOCAL INFILE '#{file.path}' REPLACE INTO TABLE loaded CHARACTER SET utf8mb4 (n, @t) SET t = REVERSE(@t)")
    equal([db.affected_rows, db.query_info[:records]], [3000, 3000])
  end
  equal(rows.("SELECT t FROM loaded WHERE n = 12"), [["21 é"]])
end

check("a query is killed") do
  other = connect
  id = other.thread_id
  other.query("SELECT COUNT(*) FROM large a JOIN large b ON a.id * 7 <> b.id * 3 JOIN large c ON a.id + b.id <> c.id", async: true)
  sleep 0.02 until rows.("SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = #{id} AND INFO LIKE '%FROM large a%'").any?
  db.query("KILL QUERY #{id}")
  equal(fails { other.async_result }, 1317)
  equal(other.query("SELECT 1", as: :array).to_a, [[1]])
  other.close
  equal(db.ping, true)
end

check("dictionary as ActiveRecord reads it") do
  equal(rows.("SELECT table_name FROM information_schema.tables WHERE table_schema = database() AND table_type = 'BASE TABLE' ORDER BY 1").flatten, %w[authors books large loaded types])
  equal(db.query("SHOW FULL FIELDS FROM `authors`").map { |f| f.values_at("Field", "Type", "Null", "Key", "Default", "Extra") },
        [["id", "bigint", "NO", "PRI", nil, "auto_increment"], ["name", "varchar(50)", "NO", "UNI", nil, ""], ["created_at", "datetime(6)", "NO", "", "CURRENT_TIMESTAMP(6)", "DEFAULT_GENERATED"]])
  equal(db.query("SHOW KEYS FROM `books`").map { |k| k.values_at("Key_name", "Column_name", "Non_unique", "Sub_part", "Index_type") }, [["PRIMARY", "id", 0, nil, "BTREE"], ["index_books_on_author_id", "author_id", 1, nil, "BTREE"]])
  equal(rows.("SELECT fk.referenced_table_name AS 'to_table', fk.referenced_column_name AS 'primary_key', fk.column_name AS 'column', fk.constraint_name AS 'name', rc.update_rule AS 'on_update', rc.delete_rule AS 'on_delete' FROM information_schema.referential_constraints rc JOIN information_schema.key_column_usage fk USING (constraint_schema, constraint_name) WHERE fk.referenced_column_name IS NOT NULL AND fk.table_schema = database() AND fk.table_name = 'books' AND rc.constraint_schema = database() AND rc.table_name = 'books'"),
        [["authors", "id", "author_id", "fk_rails_1", "NO ACTION", "CASCADE"]])
  equal(rows.("SELECT column_name FROM information_schema.statistics WHERE index_name = 'PRIMARY' AND table_schema = database() AND table_name = 'books' ORDER BY seq_in_index"), [["id"]])
  equal(rows.("SELECT table_comment FROM information_schema.tables WHERE table_schema = database() AND table_name = 'books'"), [[""]])
  equal(rows.("SHOW CREATE TABLE `books`")[0][1].include?("CONSTRAINT `fk_rails_1` FOREIGN KEY (`author_id`) REFERENCES `authors` (`id`) ON DELETE CASCADE"), true)
end

check("migration as ActiveRecord does it") do
  db.query("CREATE TABLE `schema_migrations` (`version` varchar(255) NOT NULL PRIMARY KEY)")
  db.query("ALTER TABLE `books` ADD `pages` int DEFAULT 0 NOT NULL, ADD `isbn` varchar(13) COMMENT 'number' AFTER `title`")
  db.query("ALTER TABLE `books` RENAME COLUMN `pages` TO `page_count`")
  equal(fails { db.query("ALTER TABLE `books` CHANGE `isbn` `isbn` varchar(17) NOT NULL") }, 1138)
  db.query("UPDATE `books` SET `isbn`='' WHERE `isbn` IS NULL")
  db.query("ALTER TABLE `books` CHANGE `isbn` `isbn` varchar(17) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci DEFAULT '' NOT NULL")
  db.query("CREATE INDEX `index_books_on_title` ON `books` (`title`, `page_count` DESC) COMMENT 'by title'")
  db.query("ALTER TABLE `books` RENAME INDEX `index_books_on_title` TO `by_title`")
  db.query("ALTER TABLE `books` DROP FOREIGN KEY `fk_rails_1`")
  db.query("ALTER TABLE `books` ADD CONSTRAINT `fk_rails_2` FOREIGN KEY (`author_id`) REFERENCES `authors` (`id`)")
  db.query("ALTER TABLE `books` ADD CONSTRAINT chk_pages CHECK (page_count >= 0)")
  equal(fails { db.query("UPDATE books SET page_count = -1") }, 3819)
  equal(rows.("SELECT cc.constraint_name, cc.check_clause FROM information_schema.check_constraints cc JOIN information_schema.table_constraints tc USING (constraint_schema, constraint_name) WHERE tc.table_schema = database() AND tc.table_name = 'books'"), [["chk_pages", "(`page_count` >= 0)"]])
  equal(rows.("SHOW COLUMNS FROM books").map(&:first), %w[id author_id title isbn lock_version page_count])
  db.query("ALTER TABLE `books` DROP CHECK `chk_pages`, DROP INDEX `by_title`")
  db.query("RENAME TABLE `loaded` TO `kept`")
  db.query("DROP TABLE IF EXISTS `kept`, `nowhere`")
end

db.close
exit($failed ? 1 : 0)
