require("reflect-metadata");
const { assert, check, config, end } = require("../checks.js");
const { DataSource, EntitySchema, In, Table, TableColumn, TableForeignKey, TableIndex } = require("typeorm");

const User = new EntitySchema({
  name: "User", tableName: "user",
  columns: { id: { type: Number, primary: true, generated: true }, name: { type: String, unique: true }, doc: { type: "json", nullable: true }, made: { type: "datetime", createDate: true }, v: { type: Number, version: true } },
  relations: { posts: { type: "one-to-many", target: "Post", inverseSide: "user", cascade: true } },
});
const Post = new EntitySchema({
  name: "Post", tableName: "post",
  columns: { id: { type: "uuid", primary: true, generated: "uuid" }, title: { type: String, length: 100 }, votes: { type: "decimal", precision: 10, scale: 2, default: 0 }, kind: { type: "enum", enum: ["a", "b"], default: "a" },
    shout: { type: String, length: 110, nullable: true, generatedType: "VIRTUAL", asExpression: "UPPER(title)", insert: false, update: false },
    twice: { type: "decimal", precision: 12, scale: 2, nullable: true, generatedType: "STORED", asExpression: "votes * 2", insert: false, update: false } },
  indices: [{ columns: ["title"] }],
  relations: { user: { type: "many-to-one", target: "User", inverseSide: "posts", onDelete: "CASCADE" }, tags: { type: "many-to-many", target: "Tag", joinTable: true, cascade: true } },
});
const Tag = new EntitySchema({ name: "Tag", columns: { id: { type: Number, primary: true, generated: true }, label: { type: String } } });

(async () => {
  const db = new DataSource({ type: "mysql", host: config.host, port: config.port, username: config.user, password: config.password, database: config.database, entities: [User, Post, Tag] });
  await db.initialize();
  await check("synchronize", () => db.synchronize());
  const users = db.getRepository(User), posts = db.getRepository(Post);
  await check("save with relations", async () => {
    await users.save([{ name: "Ada", doc: { x: 1 }, posts: [{ title: "one", votes: 3, tags: [{ label: "red" }] }, { title: "two" }] }, { name: "Bo" }]);
  });
  await check("find with relations and pages", async () => {
    const [list, n] = await users.findAndCount({ relations: { posts: { tags: true } }, order: { name: "ASC", posts: { title: "DESC" } }, take: 1 });
    assert.strictEqual(n, 2);
    assert.deepStrictEqual(list[0].posts.map((p) => p.title), ["two", "one"]);
    assert.strictEqual((await users.find({ where: { name: In(["Ada", "x"]) } })).length, 1);
    assert.strictEqual(Number((await posts.findOneByOrFail({ shout: "ONE" })).twice), 6);
  });
  await check("query builder", async () => {
    const rows = await users.createQueryBuilder("u").leftJoin("u.posts", "p").select("u.name", "name").addSelect("COUNT(p.id)", "n").groupBy("u.id").orderBy("n", "DESC").getRawMany();
    assert.deepStrictEqual(rows.map((r) => Number(r.n)), [2, 0]);
    const q = users.createQueryBuilder("u").where((q) => "EXISTS " + q.subQuery().select("1").from(Post, "p").where("p.userId = u.id").getQuery());
    assert.strictEqual(await q.getCount(), 1);
  });
  await check("upsert, update, optimistic version", async () => {
    await users.upsert({ name: "Ada", doc: {} }, ["name"]);
    const u = await users.findOneByOrFail({ name: "Bo" });
    u.name = "Bob";
    await users.save(u);
    assert.strictEqual((await users.findOneByOrFail({ name: "Bob" })).v, 2);
  });
  await check("transaction and lock", async () => {
    await assert.rejects(db.transaction("SERIALIZABLE", async (m) => {
      await m.findOne(User, { where: { name: "Ada" }, lock: { mode: "pessimistic_write" } });
      await m.delete(User, { name: "Ada" });
      throw new Error("undo");
    }), /undo/);
    assert.strictEqual(await users.count(), 2);
  });
  await check("cascade", async () => {
    await users.delete({ name: "Ada" });
    assert.strictEqual(await posts.count(), 0);
  });
  await check("schema is in sync", async () => {
    assert.deepStrictEqual((await db.driver.createSchemaBuilder().log()).upQueries.map((q) => q.query), []);
  });
  await check("migration API", async () => {
    const r = db.createQueryRunner();
    await r.createTable(new Table({ name: "extra", columns: [{ name: "id", type: "int", isPrimary: true }, { name: "user_id", type: "int" }] }));
    await r.createForeignKey("extra", new TableForeignKey({ columnNames: ["user_id"], referencedColumnNames: ["id"], referencedTableName: "user" }));
    await r.addColumn("extra", new TableColumn({ name: "a", type: "varchar", isNullable: true }));
    await r.changeColumn("extra", "a", new TableColumn({ name: "b", type: "varchar", length: "20", default: "'x'" }));
    await r.createIndex("extra", new TableIndex({ columnNames: ["b"], isUnique: true }));
    assert.strictEqual((await r.getTable("extra")).foreignKeys.length, 1);
    await r.dropTable("extra");
    await r.release();
  });
  await check("drop", () => db.dropDatabase());
  await db.destroy();
  end();
})();
