const { assert, check, config, end } = require("../checks.js");
const mysql2 = require("mysql2/promise");
const { drizzle } = require("drizzle-orm/mysql2");
const { eq, relations, sql, desc, exists } = require("drizzle-orm");
const { mysqlTable, int, varchar, json } = require("drizzle-orm/mysql-core");

const users = mysqlTable("users", { id: int("id").autoincrement().primaryKey(), name: varchar("name", { length: 50 }).unique(), doc: json("doc") });
const posts = mysqlTable("posts", { id: int("id").autoincrement().primaryKey(), userId: int("user_id"), title: varchar("title", { length: 50 }) });
const usersRelations = relations(users, ({ many }) => ({ posts: many(posts) }));
const postsRelations = relations(posts, ({ one }) => ({ user: one(users, { fields: [posts.userId], references: [users.id] }) }));

(async () => {
  const connection = await mysql2.createConnection(config);
  const db = drizzle(connection, { schema: { users, posts, usersRelations, postsRelations }, mode: "default" });
  await check("schema and insert", async () => {
    await db.execute(sql`CREATE TABLE users (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50) UNIQUE, doc JSON)`);
    await db.execute(sql`CREATE TABLE posts (id INT AUTO_INCREMENT PRIMARY KEY, user_id INT, title VARCHAR(50), FOREIGN KEY (user_id) REFERENCES users (id))`);
    await db.insert(users).values([{ name: "Ada", doc: { a: 1 } }, { name: "Bo" }]);
    await db.insert(posts).values([{ userId: 1, title: "one" }, { userId: 1, title: "two" }]);
  });
  await check("relational queries by lateral joins and JSON_ARRAYAGG", async () => {
    const all = await db.query.users.findMany({ with: { posts: { orderBy: desc(posts.title), limit: 5 } }, orderBy: users.name });
    assert.deepStrictEqual(all.map((u) => u.posts.map((p) => p.title).sort()), [["one", "two"], []]);
    assert.strictEqual((await db.query.posts.findFirst({ with: { user: true } })).user.name, "Ada");
  });
  await check("joins, subqueries, CTE", async () => {
    assert.strictEqual((await db.select().from(users).leftJoin(posts, eq(posts.userId, users.id))).length, 3);
    assert.strictEqual((await db.select().from(users).where(exists(db.select({ x: sql`1` }).from(posts).where(eq(posts.userId, users.id))))).length, 1);
    const c = db.$with("c").as(db.select({ n: sql`count(*)`.as("n") }).from(posts));
    assert.strictEqual((await db.with(c).select().from(c))[0].n, 2);
  });
  await check("upsert and transaction", async () => {
    await db.insert(users).values({ id: 1, name: "Ada" }).onDuplicateKeyUpdate({ set: { name: "Ada!" } });
    await assert.rejects(db.transaction(async (t) => { await t.delete(posts); throw new Error("undo"); }), /undo/);
    assert.strictEqual(await db.$count(posts), 2);
  });
  await connection.end();
  end();
})();
