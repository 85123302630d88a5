<?php
require __DIR__ . '/../checks.php';

[$host, $port, $user, $password, $database] = array_map('getenv', ['HOST', 'PORT', 'DBUSER', 'PASSWORD', 'DATABASE']);

function connect(?int $flags = 0): mysqli
{
    global $host, $port, $user, $password, $database;
    $db = mysqli_init();
    $db->options(MYSQLI_OPT_LOCAL_INFILE, true);
    $db->options(MYSQLI_INIT_COMMAND, "SET SESSION sql_mode = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES'");
    $db->real_connect($host, $user, $password, $database, (int) $port, null, $flags);
    $db->set_charset('utf8mb4');
    return $db;
}

function pdo(array $options = []): PDO
{
    global $host, $port, $user, $password, $database;
    return new PDO("mysql:host=$host;port=$port;dbname=$database;charset=utf8mb4", $user, $password, $options + [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
}

$db = connect();

check('mysqli: types there and back', function () use ($db) {
    $db->query('CREATE TABLE types (id BIGINT UNSIGNED PRIMARY KEY, d DECIMAL(20,5), f DOUBLE, t VARCHAR(50), b VARBINARY(50), da DATE, dt DATETIME(6), ti TIME, j JSON, n INT, bo TINYINT(1), e ENUM(\'x\',\'y\'), y YEAR, bi BIT(9), fl FLOAT)');
    $s = $db->prepare('INSERT INTO types VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)');
    $values = ['18446744073709551615', '12345678901234.56789', 0.1, "Ünï 🚀 '\\\"", "\0\xff'\\", '2026-02-28', '2026-02-28 23:59:59.123456', '30:00:01', '{"a": [1, 2]}', null, true, 'y', 2026, 257, 1.25];
    $s->bind_param('ssdssssssiisiid', ...$values);
    $s->execute();
    equal($s->affected_rows, 1);
    $row = $db->execute_query('SELECT * FROM types WHERE f = ?', [0.1])->fetch_row();
    [$values[10], $values[12]] = [1, '2026']; // as the driver gives them
    equal($row, $values);
    equal($db->query('SELECT id, f, bo FROM types')->fetch_assoc(), ['id' => '18446744073709551615', 'f' => '0.1', 'bo' => '1']);
    $fields = $db->query('SELECT t.id AS number, n FROM types t')->fetch_fields();
    equal([$fields[0]->name, $fields[0]->orgname, $fields[0]->table, $fields[0]->orgtable, $fields[0]->type, $fields[0]->flags & (MYSQLI_UNSIGNED_FLAG | MYSQLI_PRI_KEY_FLAG | MYSQLI_NOT_NULL_FLAG), $fields[1]->type],
        ['number', 'id', 't', 'types', MYSQLI_TYPE_LONGLONG, MYSQLI_UNSIGNED_FLAG | MYSQLI_PRI_KEY_FLAG | MYSQLI_NOT_NULL_FLAG, MYSQLI_TYPE_LONG]);
});

check('mysqli: relations, errors, upsert', function () use ($db) {
    $db->query('CREATE TABLE author (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50) NOT NULL UNIQUE)');
    $db->query('CREATE TABLE book (id INT AUTO_INCREMENT PRIMARY KEY, author_id INT NOT NULL, title VARCHAR(100), FOREIGN KEY (author_id) REFERENCES author (id) ON DELETE CASCADE)');
    $db->query("INSERT INTO author (name) VALUES ('Ada'), ('Bo')");
    equal([$db->insert_id, $db->affected_rows, $db->info], [1, 2, 'Records: 2  Duplicates: 0  Warnings: 0']);
    $db->query("INSERT INTO book (author_id, title) VALUES (1, 'one'), (1, 'two'), (2, 'three')");
    equal(fails(fn () => $db->query("INSERT INTO author (name) VALUES ('Ada')")), 1062);
    equal([$db->errno, $db->sqlstate], [1062, '23000']);
    equal(fails(fn () => $db->query('INSERT INTO book (author_id) VALUES (99)')), 1452);
    $db->query("INSERT INTO author (id, name) VALUES (1, 'Ada L.') ON DUPLICATE KEY UPDATE name = VALUES(name), id = LAST_INSERT_ID(id)");
    equal([$db->affected_rows, $db->insert_id], [2, 1]);
    $db->query("UPDATE author SET name = 'Ada L.' WHERE id = 1");
    equal([$db->affected_rows, $db->info], [0, 'Rows matched: 1  Changed: 0  Warnings: 0']);
    equal($db->query('SELECT a.name, COUNT(*) AS n FROM author a JOIN book b ON b.author_id = a.id GROUP BY a.id ORDER BY a.id LIMIT 1, 1')->fetch_all(MYSQLI_ASSOC), [['name' => 'Bo', 'n' => '1']]);
});

check('mysqli: transactions, savepoints, locks', function () use ($db) {
    $db->begin_transaction(MYSQLI_TRANS_START_READ_ONLY);
    equal(fails(fn () => $db->query('DELETE FROM book')), 1792);
    $db->rollback();
    $db->begin_transaction();
    $db->savepoint('here');
    $db->query('DELETE FROM author');
    $db->query('ROLLBACK TO SAVEPOINT `here`');
    $db->release_savepoint('here');
    $db->commit();
    equal($db->query('SELECT COUNT(*) FROM book')->fetch_column(), '3');
    $other = connect();
    $db->begin_transaction();
    $db->query('SELECT * FROM author WHERE id = 1 FOR UPDATE');
    $other->query("UPDATE author SET name = CONCAT(name, '!') WHERE id = 1", MYSQLI_ASYNC);
    $read = $error = $reject = [$other];
    equal(mysqli_poll($read, $error, $reject, 0, 300000), 0); // it waits
    $db->commit();
    $read = $error = $reject = [$other];
    equal(mysqli_poll($read, $error, $reject, 60), 1);
    equal($other->reap_async_query(), true);
    equal($db->query('SELECT name FROM author WHERE id = 1')->fetch_column(), 'Ada L.!');
    $db->query("SELECT GET_LOCK('trial', 0)");
    equal($other->query("SELECT GET_LOCK('trial', 0)")->fetch_column(), '0');
    $db->query("SELECT RELEASE_LOCK('trial')");
    $other->close();
});

check('mysqli: several statements, streams, cursors', function () use ($db) {
    $db->multi_query('SELECT 1 AS a; UPDATE book SET title = UPPER(title); SELECT title FROM book ORDER BY id');
    $all = [];
    do {
        $r = $db->store_result();
        $all[] = $r ? $r->fetch_all() : $db->affected_rows;
    } while ($db->next_result());
    equal($all, [[['1']], 3, [['ONE'], ['TWO'], ['THREE']]]);
    $db->query('CREATE TABLE large AS WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT a.i * 1000 + b.i AS id, REPEAT(\'x\', 50) AS pad FROM n a JOIN n b ON b.i <= 20');
    $n = 0;
    foreach ($db->query('SELECT * FROM large', MYSQLI_USE_RESULT) as $_) {
        $n++;
    }
    equal($n, 20000);
    $s = $db->prepare('SELECT id FROM large ORDER BY id');
    $s->attr_set(MYSQLI_STMT_ATTR_CURSOR_TYPE, MYSQLI_CURSOR_TYPE_READ_ONLY);
    $s->execute();
    $s->bind_result($id);
    for ($n = $sum = 0; $s->fetch(); $n++) {
        $sum += $id;
    }
    equal([$n, $sum], [20000, 10010210000]);
    $s->close();
    $blob = random_bytes(3000000);
    $db->query('CREATE TABLE files (id INT PRIMARY KEY, b LONGBLOB)');
    $s = $db->prepare('INSERT INTO files VALUES (1, ?)');
    $null = null;
    $s->bind_param('b', $null);
    foreach (str_split($blob, 1000000) as $part) {
        $s->send_long_data(0, $part);
    }
    $s->execute();
    equal($db->query('SELECT b FROM files')->fetch_column(), $blob);
});

check('mysqli: LOAD DATA LOCAL', function () use ($db) {
    $file = tempnam(sys_get_temp_dir(), 'trial');
    file_put_contents($file, implode('', array_map(fn ($i) => "$i;\"é $i\"\r\n", range(1, 2000))));
    $db->query('CREATE TABLE loaded (n INT PRIMARY KEY, t VARCHAR(20))');
    $load = "LOAD DATA LOCAL INFILE '$file' INTO TABLE loaded CHARACTER SET utf8mb4 FIELDS TERMINATED BY ';' OPTIONALLY ENCLOSED BY '\"' LINES TERMINATED BY '\\r\\n' IGNORE 1 LINES (n, @t) SET t = CONCAT(@t, '!')";
    $db->query($load);
    equal([$db->affected_rows, $db->info], [1999, 'Records: 1999  Deleted: 0  Skipped: 0  Warnings: 0']);
    $db->query($load);
    equal([$db->affected_rows, $db->warning_count > 0], [0, true]);
    equal($db->query('SELECT MAX(t) FROM loaded')->fetch_column(), 'é 999!');
    unlink($file);
    fails(fn () => $db->query($load));
    equal($db->query('SELECT 1')->fetch_column(), '1'); // the connection is still in step
});

check('mysqli: TLS, compression, change of user, kill', function () use ($db, $user, $password, $database) {
    $own = connect(MYSQLI_CLIENT_SSL | MYSQLI_CLIENT_SSL_DONT_VERIFY_SERVER_CERT | MYSQLI_CLIENT_COMPRESS);
    equal(strlen($own->query("SHOW STATUS LIKE 'Ssl_cipher'")->fetch_row()[1]) > 0, true);
    equal($own->query("SHOW STATUS LIKE 'Compression'")->fetch_row()[1], 'ON');
    $own->query('SET @x = 1');
    $own->change_user($user, $password, $database);
    equal($own->query('SELECT @x')->fetch_column(), null);
    $db->query('KILL ' . $own->thread_id);
    equal(in_array(fails(fn () => $own->query('SELECT 1')), [1927, 2006, 2013, 4031]), true);
    equal(str_contains($db->stat(), 'Uptime'), true);
});

check('PDO: emulated and real prepared statements', function () {
    foreach ([true, false] as $emulate) {
        $pdo = pdo([PDO::ATTR_EMULATE_PREPARES => $emulate]);
        $s = $pdo->prepare('SELECT b.id, title, :extra AS extra FROM book b WHERE author_id = :a AND title IN (:b, :c) ORDER BY b.id LIMIT :n OFFSET :o');
        foreach (['extra' => 'x', 'b' => 'one', 'c' => 'TWO'] as $name => $value) {
            $s->bindValue($name, $value);
        }
        foreach (['a' => 1, 'n' => 1, 'o' => 1] as $name => $value) {
            $s->bindValue($name, $value, PDO::PARAM_INT);
        }
        $s->execute();
        equal($s->fetchAll(PDO::FETCH_ASSOC), [['id' => 2, 'title' => 'TWO', 'extra' => 'x']]);
        equal($pdo->query('SELECT 18446744073709551615 AS u, 1.50 AS d, NULL AS n')->fetch(PDO::FETCH_NUM), ['18446744073709551615', '1.50', null]);
        $meta = $s->getColumnMeta(1);
        equal([$meta['name'], $meta['table'], $meta['native_type'], $meta['len']], ['title', 'b', 'VAR_STRING', 400]);
        equal(fails(fn () => $pdo->exec("INSERT INTO author (name) VALUES ('Bo')")), 1062);
        $pdo->beginTransaction();
        equal($pdo->exec("INSERT INTO author (name) VALUES ('temporary')"), 1);
        equal((int) $pdo->lastInsertId() > 2, true);
        $pdo->rollBack();
        equal($pdo->inTransaction(), false);
        equal($pdo->query('SELECT COUNT(*) FROM author')->fetchColumn(), 2);
        $pdo->setAttribute(PDO::MYSQL_ATTR_USE_BUFFERED_QUERY, false);
        $n = 0;
        foreach ($pdo->query('SELECT id FROM large') as $_) {
            $n++;
        }
        equal($n, 20000);
    }
});

// What WordPress sends: its schema, its loops, its options, its dates of zero.
$pdo = pdo([PDO::MYSQL_ATTR_INIT_COMMAND => "SET NAMES utf8mb4 COLLATE utf8mb4_unicode_520_ci"]);

check('WordPress: modes and schema', function () use ($pdo) {
    $modes = explode(',', $pdo->query('SELECT @@SESSION.sql_mode')->fetchColumn());
    $modes = array_diff($modes, ['NO_ZERO_DATE', 'ONLY_FULL_GROUP_BY', 'STRICT_TRANS_TABLES', 'STRICT_ALL_TABLES', 'TRADITIONAL', 'ANSI', 'NO_ZERO_IN_DATE']);
    $pdo->exec("SET SESSION sql_mode='" . implode(',', $modes) . "'");
    foreach (explode(";\n", file_get_contents(__DIR__ . '/wordpress.sql')) as $statement) {
        if (trim($statement) !== '') {
            $pdo->exec($statement);
        }
    }
    equal($pdo->query("SHOW TABLES LIKE 'wp\\_%'")->rowCount(), 12);
    equal($pdo->query("SHOW FULL COLUMNS FROM `wp_posts` LIKE 'post_date'")->fetch(PDO::FETCH_ASSOC),
        ['Field' => 'post_date', 'Type' => 'datetime', 'Collation' => null, 'Null' => 'NO', 'Key' => '', 'Default' => '0000-00-00 00:00:00', 'Extra' => '', 'Privileges' => 'select,insert,update,references', 'Comment' => '']);
    equal(array_column($pdo->query("SHOW INDEX FROM wp_posts WHERE Key_name = 'type_status_date'")->fetchAll(PDO::FETCH_ASSOC), 'Column_name'), ['post_type', 'post_status', 'post_date', 'ID']);
    equal($pdo->query("SELECT Sub_part FROM (SELECT INDEX_NAME, SUB_PART AS Sub_part FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'wp_postmeta') s WHERE INDEX_NAME = 'meta_key'")->fetchColumn(), 191);
    equal($pdo->query("SHOW TABLE STATUS WHERE Name = 'wp_posts'")->fetch(PDO::FETCH_ASSOC)['Collation'], 'utf8mb4_unicode_520_ci');
});

check('WordPress: options, posts, meta, terms', function () use ($pdo) {
    $pdo->exec("INSERT INTO `wp_options` (`option_name`, `option_value`, `autoload`) VALUES ('siteurl', 'http://example.org', 'on') ON DUPLICATE KEY UPDATE `option_name` = VALUES(`option_name`), `option_value` = VALUES(`option_value`), `autoload` = VALUES(`autoload`)");
    $pdo->exec("INSERT IGNORE INTO wp_options (option_name, option_value) VALUES ('siteurl', 'ignored'), ('cron', ''), ('_transient_timeout_a', '5'), ('_transient_a', 'x')");
    equal($pdo->query("SELECT option_name, option_value FROM wp_options WHERE autoload IN ( 'yes', 'on', 'auto-on', 'auto' ) ORDER BY option_id")->fetchAll(PDO::FETCH_KEY_PAIR)['siteurl'], 'http://example.org');
    for ($i = 1; $i <= 12; $i++) {
        $pdo->exec("INSERT INTO `wp_posts` (`post_author`, `post_date`, `post_content`, `post_title`, `post_status`, `post_type`, `post_name`, `post_excerpt`, `to_ping`, `pinged`, `post_content_filtered`) VALUES (1, '2026-01-" . sprintf('%02d', $i) . " 10:00:00', 'Content $i 🚀', 'Title $i', '" . ($i % 4 ? 'publish' : 'draft') . "', 'post', 'title-$i', '', '', '', '')");
        $pdo->exec("INSERT INTO wp_postmeta (post_id, meta_key, meta_value) VALUES ($i, 'price', '" . $i * 5 . "'), ($i, '_edit_lock', '1:1')");
    }
    $pdo->exec("INSERT INTO wp_terms (name, slug) VALUES ('News', 'news'), ('Old', 'old')");
    $pdo->exec("INSERT INTO wp_term_taxonomy (term_id, taxonomy, description) VALUES (1, 'category', ''), (2, 'category', '')");
    $pdo->exec('INSERT INTO wp_term_relationships (object_id, term_taxonomy_id) SELECT ID, 1 + (ID % 2) FROM wp_posts');
    equal($pdo->query("SELECT post_date_gmt FROM wp_posts WHERE ID = 1")->fetchColumn(), '0000-00-00 00:00:00');
    $pdo->exec('UPDATE wp_term_taxonomy SET count = (SELECT COUNT(*) FROM wp_term_relationships WHERE wp_term_relationships.term_taxonomy_id = wp_term_taxonomy.term_taxonomy_id)');
    equal($pdo->query('SELECT count FROM wp_term_taxonomy ORDER BY term_id')->fetchAll(PDO::FETCH_COLUMN), [6, 6]);
});

check('WordPress: the loop', function () use ($pdo) {
    $ids = $pdo->query("SELECT SQL_CALC_FOUND_ROWS wp_posts.ID FROM wp_posts LEFT JOIN wp_term_relationships ON (wp_posts.ID = wp_term_relationships.object_id) INNER JOIN wp_postmeta ON ( wp_posts.ID = wp_postmeta.post_id ) WHERE 1=1 AND ( wp_term_relationships.term_taxonomy_id IN (1,2) ) AND ( ( wp_postmeta.meta_key = 'price' AND CAST(wp_postmeta.meta_value AS SIGNED) > '10' ) ) AND ((wp_posts.post_type = 'post' AND (wp_posts.post_status = 'publish' OR wp_posts.post_status = 'private'))) GROUP BY wp_posts.ID ORDER BY wp_posts.post_date DESC LIMIT 0, 5")->fetchAll(PDO::FETCH_COLUMN);
    equal($ids, [11, 10, 9, 7, 6]);
    equal($pdo->query('SELECT FOUND_ROWS()')->fetchColumn(), 7);
    equal($pdo->query("SELECT p.ID FROM wp_posts AS p WHERE p.post_date < '2026-01-05 10:00:00' AND p.post_type = 'post' AND ( p.post_status = 'publish' ) ORDER BY p.post_date DESC LIMIT 1")->fetchColumn(), 3);
    equal($pdo->query("SELECT YEAR(post_date) AS `year`, MONTH(post_date) AS `month`, count(ID) as posts FROM wp_posts WHERE post_type = 'post' AND post_status = 'publish' GROUP BY YEAR(post_date), MONTH(post_date) ORDER BY post_date DESC")->fetchAll(PDO::FETCH_NUM), [[2026, 1, 9]]);
    equal($pdo->query("SELECT post_status, COUNT( * ) AS num_posts FROM wp_posts WHERE post_type = 'post' GROUP BY post_status ORDER BY 1")->fetchAll(PDO::FETCH_KEY_PAIR), ['draft' => 3, 'publish' => 9]);
    equal($pdo->query("SELECT DISTINCT t.term_id, tr.object_id FROM wp_terms AS t INNER JOIN wp_term_taxonomy AS tt ON t.term_id = tt.term_id INNER JOIN wp_term_relationships AS tr ON tr.term_taxonomy_id = tt.term_taxonomy_id WHERE tt.taxonomy IN ('category') AND tr.object_id IN (1, 2) ORDER BY t.name ASC")->fetchAll(PDO::FETCH_NUM), [[1, 2], [2, 1]]);
    equal($pdo->query("SELECT ID FROM wp_posts WHERE (((post_title LIKE '%title 1%') OR (post_content LIKE '%title 1%'))) ORDER BY post_title LIKE '%Title 12%' DESC, post_date DESC LIMIT 3")->fetchAll(PDO::FETCH_COLUMN), [12, 11, 10]);
});

check('WordPress: cleaning and upgrades', function () use ($pdo) {
    equal($pdo->exec("DELETE a, b FROM wp_options a, wp_options b WHERE a.option_name LIKE '\\_transient\\_%' AND a.option_name NOT LIKE '\\_transient\\_timeout\\_%' AND b.option_name = CONCAT( '_transient_timeout_', SUBSTRING( a.option_name, 12 ) ) AND b.option_value < 10"), 2);
    equal($pdo->exec('DELETE pm FROM wp_postmeta pm LEFT JOIN wp_posts wp ON wp.ID = pm.post_id WHERE wp.ID IS NULL'), 0);
    $pdo->exec("ALTER TABLE wp_posts CHANGE COLUMN post_name post_name varchar(255) NOT NULL DEFAULT '', ADD INDEX by_modified (post_modified)");
    $pdo->exec('ALTER TABLE wp_posts DROP INDEX by_modified');
    $pdo->exec('ALTER TABLE wp_comments CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci');
    equal($pdo->query("DESCRIBE wp_posts post_name")->fetch(PDO::FETCH_ASSOC)['Type'], 'varchar(255)');
    $pdo->exec("UPDATE wp_posts SET post_content = REPLACE(post_content, 'Content', 'Text'), post_modified = '0000-00-00 00:00:00' WHERE ID IN (SELECT object_id FROM wp_term_relationships WHERE term_taxonomy_id = 1)");
    equal($pdo->query("SELECT COUNT(*) FROM wp_posts WHERE post_content LIKE 'Text%'")->fetchColumn(), 6);
    $pdo->exec('CHECK TABLE wp_posts, wp_options');
});
finish();
