const { assert, check, config, end } = require("../checks.js");
const { Sequelize, DataTypes, Op } = require("sequelize");

(async () => {
  const db = new Sequelize(config.database, config.user, config.password, { host: config.host, port: config.port, dialect: "mysql", logging: false });
  const User = db.define("User", { name: { type: DataTypes.STRING, unique: true, allowNull: false }, meta: DataTypes.JSON, role: { type: DataTypes.ENUM("a", "b"), defaultValue: "a" } });
  const Post = db.define("Post", { title: DataTypes.STRING, votes: { type: DataTypes.INTEGER, defaultValue: 0 } }, { indexes: [{ fields: ["title"] }], paranoid: true });
  const Tag = db.define("Tag", { label: DataTypes.STRING });
  User.hasMany(Post, { onDelete: "CASCADE" });
  Post.belongsTo(User);
  Post.belongsToMany(Tag, { through: "PostTags" });
  Tag.belongsToMany(Post, { through: "PostTags" });
  await check("sync", () => db.sync({ force: true }));
  await check("create with associations", async () => {
    const ada = await User.create({ name: "Ada", meta: { lang: "en" }, Posts: [{ title: "one" }, { title: "two", votes: 5 }] }, { include: Post });
    await User.bulkCreate([{ name: "Bo" }, { name: "Cy" }]);
    await ada.Posts[0].addTag(await Tag.create({ label: "red" }));
  });
  await check("eager loading, filters, pages", async () => {
    const users = await User.findAll({ include: { model: Post, include: Tag }, order: ["name", [Post, "title", "DESC"]] });
    assert.deepStrictEqual(users.map((u) => u.Posts.length), [2, 0, 0]);
    assert.strictEqual(users[0].Posts[1].Tags[0].label, "red");
    const page = await User.findAndCountAll({ include: Post, limit: 2, offset: 1, order: ["id"], distinct: true });
    assert.strictEqual(page.count, 3);
    assert.strictEqual((await User.findAll({ where: { "$Posts.votes$": { [Op.gt]: 1 } }, include: Post })).length, 1);
    assert.strictEqual((await User.findOne({ where: { meta: { lang: "en" } } })).name, "Ada");
  });
  await check("aggregates and subqueries", async () => {
    const rows = await User.findAll({ attributes: ["name", [db.fn("COUNT", db.col("Posts.id")), "n"]], include: { model: Post, attributes: [] }, group: ["User.id"], raw: true, order: ["name"] });
    assert.deepStrictEqual(rows.map((r) => r.n), [2, 0, 0]);
    const busy = await User.findAll({ where: { id: { [Op.in]: db.literal("(SELECT UserId FROM Posts)") } } });
    assert.strictEqual(busy.length, 1);
  });
  await check("upsert, increment, soft delete", async () => {
    await User.upsert({ id: 1, name: "Ada L." });
    await Post.increment("votes", { where: { title: "two" } });
    assert.strictEqual((await Post.findOne({ where: { title: "two" } })).votes, 6);
    await Post.destroy({ where: { title: "one" } });
    assert.strictEqual(await Post.count(), 1);
    assert.strictEqual(await Post.count({ paranoid: false }), 2);
  });
  await check("transactions and locks", async () => {
    await assert.rejects(db.transaction(async (t) => {
      await User.findOne({ where: { name: "Bo" }, lock: t.LOCK.UPDATE, skipLocked: true, transaction: t });
      await User.destroy({ where: {}, transaction: t });
      throw new Error("undo");
    }), /undo/);
    assert.strictEqual(await User.count(), 3);
  });
  await check("constraints", async () => {
    await assert.rejects(User.create({ name: "Bo" }), { name: "SequelizeUniqueConstraintError" });
    await assert.rejects(Post.create({ title: "x", UserId: 99 }), { name: "SequelizeForeignKeyConstraintError" });
  });
  await check("query interface", async () => {
    const q = db.getQueryInterface();
    await q.addColumn("Users", "age", { type: DataTypes.INTEGER, allowNull: true });
    await q.changeColumn("Users", "age", { type: DataTypes.BIGINT, defaultValue: 3 });
    await q.renameColumn("Users", "age", "years");
    await q.addIndex("Users", ["years"]);
    await q.addConstraint("Users", { type: "unique", fields: ["years", "name"], name: "years_name" });
    const d = await q.describeTable("Users");
    assert.strictEqual(d.years.type, "BIGINT");
    assert.strictEqual((await q.showIndex("Users")).length >= 3, true);
    assert.strictEqual((await q.getForeignKeyReferencesForTable("Posts")).length, 1);
    await q.removeConstraint("Users", "years_name");
    await q.removeColumn("Users", "years");
  });
  await check("sync with alter", () => db.sync({ alter: true }));
  await check("drop", () => db.drop());
  await db.close();
  end();
})();
