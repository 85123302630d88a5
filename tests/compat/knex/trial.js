const { assert, check, config, end } = require("../checks.js");

(async () => {
  const db = require("knex")({ client: "mysql2", connection: config });
  await check("schema", async () => {
    await db.schema.createTable("author", (t) => { t.increments(); t.string("name").notNullable().unique(); t.json("doc"); t.timestamps(true, true); });
    await db.schema.createTable("book", (t) => {
      t.increments();
      t.integer("author_id").unsigned().notNullable().references("id").inTable("author").onDelete("CASCADE");
      t.string("title").index();
      t.decimal("price", 10, 2).checkPositive();
      t.enu("kind", ["a", "b"]);
    });
    assert.strictEqual(await db.schema.hasColumn("book", "price"), true);
  });
  await check("insert and join", async () => {
    const [id] = await db("author").insert({ name: "Ada", doc: JSON.stringify({ x: 1 }) });
    await db("author").insert({ name: "Bo" });
    await db.batchInsert("book", [1, 2, 3].map((n) => ({ author_id: id, title: "t" + n, price: n, kind: "a" })), 2);
    const rows = await db("author as a").leftJoin("book as b", "b.author_id", "a.id").groupBy("a.id").orderBy("a.name").select("a.name").count("b.id as n");
    assert.deepStrictEqual(rows.map((r) => r.n), [3, 0]);
  });
  await check("with, union, subquery, window, JSON", async () => {
    const rows = await db.with("big", db("book").where("price", ">", 1)).select("title").from("big").union(db("author").select("name"));
    assert.strictEqual(rows.length, 4);
    assert.strictEqual((await db("author").whereExists(db("book").whereRaw("book.author_id = author.id"))).length, 1);
    assert.strictEqual((await db("book").whereIn("author_id", db("author").select("id").where("name", "Ada"))).length, 3);
    assert.strictEqual((await db("book").whereIn(["author_id", "title"], [[1, "t1"], [1, "t3"]])).length, 2);
    assert.deepStrictEqual((await db("book").select("title").rowNumber("r", (q) => q.orderBy("price", "desc")).orderBy("title")).map((r) => r.r), [3, 2, 1]);
    assert.strictEqual((await db("author").whereJsonPath("doc", "$.x", "=", 1)).length, 1);
  });
  await check("upsert", async () => {
    await db("author").insert({ name: "Ada", doc: "{}" }).onConflict("name").merge(["doc"]);
    await db("author").insert({ name: "Ada" }).onConflict("name").ignore();
    assert.strictEqual((await db("author")).length, 2);
  });
  await check("transaction, savepoint, lock", async () => {
    await db.transaction(async (t) => {
      await t("author").where("id", 1).forUpdate().noWait();
      await t.transaction(async (s) => { await s("book").del(); throw new Error("undo"); }).catch(() => {});
    });
    assert.strictEqual(Number((await db("book").count("* as n"))[0].n), 3);
  });
  await check("alter", async () => {
    await db.schema.alterTable("book", (t) => { t.string("title", 100).notNullable().defaultTo("").alter(); t.renameColumn("kind", "sort"); t.date("made").after("title"); });
    await db.schema.alterTable("book", (t) => { t.dropForeign("author_id"); t.dropColumn("made"); t.unique(["author_id", "title"]); });
    assert.deepStrictEqual(Object.keys(await db("book").columnInfo()).sort(), ["author_id", "id", "price", "sort", "title"]);
  });
  await check("migrations", async () => {
    const source = { getMigrations: async () => ["one"], getMigrationName: (m) => m, getMigration: async () => ({ up: (k) => k.schema.createTable("m", (t) => t.uuid("id").primary()), down: (k) => k.schema.dropTable("m") }) };
    await db.migrate.latest({ migrationSource: source });
    await db.migrate.rollback({ migrationSource: source });
    assert.strictEqual(await db.schema.hasTable("m"), false);
  });
  await db.destroy();
  end();
})();
