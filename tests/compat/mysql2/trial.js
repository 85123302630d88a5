const { assert, check, config, end, sleep } = require("../checks.js");
const fs = require("fs");
const os = require("os");
const path = require("path");
const { Readable } = require("stream");
const mysql2 = require("mysql2/promise");

(async () => {
  const db = await mysql2.createConnection({ ...config, multipleStatements: true, supportBigNumbers: true, bigNumberStrings: true, dateStrings: true });
  await check("create and insert", async () => {
    await db.query("CREATE TABLE users (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50) UNIQUE, big BIGINT, at DATETIME(3), doc JSON, bin BLOB)");
    await db.query("CREATE TABLE posts (id INT AUTO_INCREMENT PRIMARY KEY, user_id INT NOT NULL, title TEXT, FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE)");
    const [r] = await db.execute("INSERT INTO users (name, big, at, doc, bin) VALUES (?, ?, ?, ?, ?)", ["Ada é", "9223372036854775807", "2026-01-02 03:04:05.678", JSON.stringify({ a: [1] }), Buffer.from([0, 255])]);
    assert.strictEqual(r.insertId, 1);
    const [rows] = await db.execute("SELECT * FROM users WHERE id = ?", [1]);
    assert.deepStrictEqual({ ...rows[0] }, { id: 1, name: "Ada é", big: "9223372036854775807", at: "2026-01-02 03:04:05.678", doc: { a: [1] }, bin: Buffer.from([0, 255]) });
  });
  await check("many rows, joins, pages", async () => {
    const [r] = await db.query("INSERT INTO posts (user_id, title) VALUES ?", [[[1, "a"], [1, "b"], [1, "c"]]]);
    assert.strictEqual(r.affectedRows, 3);
    const [rows] = await db.execute("SELECT u.name, p.title FROM users u JOIN posts p ON p.user_id = u.id ORDER BY p.id LIMIT ? OFFSET ?", ["2", "1"]);
    assert.deepStrictEqual(rows.map((x) => x.title), ["b", "c"]);
  });
  await check("several statements at once", async () => {
    const [r] = await db.query("SELECT 1 AS a; INSERT INTO users (name) VALUES ('Bo'); SELECT COUNT(*) AS n FROM users");
    assert.strictEqual(Number(r[0][0].a), 1);
    assert.strictEqual(Number(r[2][0].n), 2);
  });
  await check("errors have number and state", async () => {
    await assert.rejects(db.query("INSERT INTO users (name) VALUES ('Bo')"), (e) => e.code === "ER_DUP_ENTRY" && e.errno === 1062 && e.sqlState === "23000");
    await assert.rejects(db.query("INSERT INTO posts (user_id) VALUES (99)"), (e) => e.code === "ER_NO_REFERENCED_ROW_2");
    await assert.rejects(db.query("SELEC 1"), (e) => e.code === "ER_PARSE_ERROR");
  });
  await check("upsert", async () => {
    const [r] = await db.execute("INSERT INTO users (id, name) VALUES (?, ?) AS new ON DUPLICATE KEY UPDATE name = new.name", [2, "Bo2"]);
    assert.strictEqual(r.affectedRows, 2);
  });
  await check("transactions and locks", async () => {
    const other = await mysql2.createConnection(config);
    await db.beginTransaction();
    await db.query("SELECT * FROM users WHERE id = 1 FOR UPDATE");
    let done = false;
    const waiting = other.query("UPDATE users SET name = 'x' WHERE id = 1").then(() => (done = true));
    await sleep(200);
    assert.strictEqual(done, false);
    await db.rollback();
    await waiting;
    await other.end();
  });
  await check("pool, streams, change of user", async () => {
    const pool = mysql2.createPool({ ...config, connectionLimit: 4 });
    const all = await Promise.all([...Array(20)].map((_, i) => pool.query("SELECT ? AS n", [i])));
    assert.deepStrictEqual(all.map(([[r]]) => r.n), [...Array(20).keys()]);
    await pool.end();
    await db.changeUser({ user: config.user, password: config.password, database: config.database });
    await db.ping();
    let n = 0;
    for await (const _ of db.connection.query("WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT * FROM n").stream()) n++;
    assert.strictEqual(n, 1000);
  });
  await check("the older package mysql", async () => {
    const old = require("mysql").createConnection({ ...config, user: process.env.NATIVE_USER });
    const rows = await new Promise((ok, no) => old.query("SELECT name FROM ?? WHERE id = ?", ["users", 2], (e, r) => (e ? no(e) : ok(r))));
    assert.strictEqual(rows[0].name, "Bo2");
    old.destroy();
  });
  await check("the package mariadb", async () => {
    const maria = await require("mariadb").createConnection({ ...config, allowPublicKeyRetrieval: true });
    await maria.batch("INSERT INTO posts (user_id, title) VALUES (?, ?)", [[1, "x"], [2, "y"]]);
    assert.strictEqual((await maria.query("SELECT COUNT(*) AS n FROM posts"))[0].n, 5n);
    await maria.end();
  });
  await check("LOAD DATA LOCAL", async () => {
    await db.query("CREATE TABLE loaded (n INT PRIMARY KEY, t VARCHAR(20))");
    const lines = [...Array(3000)].map((_, i) => `${i}\té ${i}\n`).join("");
    const load = { sql: "LOAD DATA LOCAL INFILE 'any' INTO TABLE loaded CHARACTER SET utf8mb4", infileStreamFactory: () => Readable.from([lines.slice(0, 5000), lines.slice(5000)].map((s) => Buffer.from(s))) };
    let [r] = await db.query(load);
    assert.strictEqual(r.affectedRows, 3000);
    [r] = await db.query(load);
    assert.strictEqual(r.affectedRows, 0);
    const [[row]] = await db.query("SELECT COUNT(*) AS n, MAX(t) AS t FROM loaded");
    assert.deepStrictEqual([Number(row.n), row.t], [3000, "é 999"]);
    const maria = await require("mariadb").createConnection({ ...config, allowPublicKeyRetrieval: true, permitLocalInfile: true });
    const file = path.join(os.tmpdir(), `trial${process.pid}.csv`);
    fs.writeFileSync(file, "3000\tx\n3001\t\\N\n");
    try {
      assert.strictEqual((await maria.query(`LOAD DATA LOCAL INFILE '${file}' INTO TABLE loaded`)).affectedRows, 2);
    } finally {
      fs.rmSync(file);
    }
    await maria.end();
  });
  await db.end();
  end();
})();
