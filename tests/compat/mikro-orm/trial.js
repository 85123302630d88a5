// The trial of MikroORM 6.
const { MikroORM, EntitySchema, LockMode, raw } = require("@mikro-orm/mysql");
const { EntityGenerator } = require("@mikro-orm/entity-generator");
const { assert, check, config, end } = require("../checks.js");

const Author = new EntitySchema({
  name: "Author",
  properties: {
    id: { type: "number", primary: true },
    name: { type: "string", length: 100, unique: true },
    born: { type: "date", nullable: true },
    meta: { type: "json", nullable: true },
    kind: { enum: true, items: ["a", "b"], default: "a" },
    created: { type: "datetime", length: 3, defaultRaw: "current_timestamp(3)" },
    version: { type: "number", version: true },
    books: { kind: "1:m", entity: "Book", mappedBy: "author" },
  },
});
const Tag = new EntitySchema({ name: "Tag", properties: { id: { type: "number", primary: true }, label: { type: "string" } } });
const Book = new EntitySchema({
  name: "Book",
  indexes: [{ properties: ["title", "price"] }],
  properties: {
    id: { type: "bigint", primary: true },
    title: { type: "string" },
    price: { type: "decimal", precision: 10, scale: 2 },
    double: { type: "decimal", columnType: "decimal(12,2)", generated: "(price * 2) stored", nullable: true },
    author: { kind: "m:1", entity: "Author", deleteRule: "cascade" },
    tags: { kind: "m:n", entity: "Tag", pivotTable: "book_tags" },
  },
});

(async () => {
  const orm = await MikroORM.init({
    entities: [Author, Book, Tag], host: config.host, port: config.port, user: config.user, password: config.password, dbName: config.database,
    extensions: [EntityGenerator], allowGlobalContext: true,
  });
  const em = orm.em.fork();
  await check("create the schema", () => orm.schema.createSchema());
  await check("the schema is in sync", async () => assert.strictEqual((await orm.schema.getUpdateSchemaSQL({ wrap: false })).trim(), ""));
  await check("unit of work", async () => {
    const author = em.create("Author", { name: "Ada", born: "1815-12-10", meta: { x: [1, 2] }, kind: "b" });
    const even = em.create("Tag", { label: "even" });
    for (let i = 0; i < 20; i++) {
      const book = em.create("Book", { title: "t" + i, price: (i * 1.5).toFixed(2), author });
      book.tags.add(i % 2 ? em.create("Tag", { label: "l" + i }) : even);
    }
    await em.flush();
    em.clear();
  });
  await check("relations and pages", async () => {
    const [books, count] = await em.findAndCount("Book", { author: { name: "Ada" }, price: { $gt: "3" } },
      { populate: ["tags", "author"], orderBy: { price: "desc" }, limit: 5, offset: 2 });
    assert.strictEqual(count, 17);
    assert.deepStrictEqual([books.length, books[0].title, books[0].price, books[0].double, books[0].tags.length], [5, "t17", "25.50", "51.00", 1]);
    assert.deepStrictEqual(books[0].author.meta, { x: [1, 2] });
  });
  await check("upsert", async () => {
    await em.upsertMany("Author", [{ name: "Ada", kind: "a" }, { name: "Bo", kind: "b" }]);
    assert.deepStrictEqual((await em.find("Author", {}, { orderBy: { id: 1 } })).map((a) => [a.name, a.kind]), [["Ada", "a"], ["Bo", "b"]]);
  });
  await check("optimistic lock", async () => {
    const one = orm.em.fork(), other = orm.em.fork();
    (await one.findOneOrFail("Author", { name: "Bo" })).kind = "a";
    (await other.findOneOrFail("Author", { name: "Bo" })).name = "Bob";
    await one.flush();
    await assert.rejects(other.flush(), { name: "OptimisticLockError" });
  });
  await check("transaction, lock and savepoint", async () => {
    await em.fork().transactional(async (t) => {
      await t.findOneOrFail("Book", { title: "t1" }, { lockMode: LockMode.PESSIMISTIC_WRITE });
      await assert.rejects(t.transactional(async (inner) => {
        await inner.nativeDelete("Book", { title: "t1" });
        throw new Error("undo");
      }), /undo/);
    });
    assert.strictEqual(await em.fork().count("Book", { title: "t1" }), 1);
  });
  await check("query builder", async () => {
    const rows = await em.createQueryBuilder("Book", "b").select(["b.author", raw("count(*) as n"), raw("sum(b.price) as total")]).groupBy("b.author").execute();
    assert.deepStrictEqual([rows.length, Number(rows[0].n), Number(rows[0].total)], [1, 20, 285]);
  });
  await check("entities of the dictionary", async () => {
    const text = (await orm.entityGenerator.generate({ save: false })).join("\n");
    assert.match(text, /class Author/);
    assert.match(text, /deleteRule: 'cascade'/);
  });
  await check("cascade", async () => {
    await em.nativeDelete("Author", { name: "Ada" });
    assert.strictEqual(await em.fork().count("Book"), 0);
  });
  await check("drop the schema", () => orm.schema.dropSchema());
  await orm.close();
  end();
})();
