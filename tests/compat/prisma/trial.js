// Prisma's client: its compiler of queries and its driver come in its packages.
const { readFileSync } = require("fs");
const { PrismaMariaDb } = require("@prisma/adapter-mariadb");
const { PrismaClient, Prisma } = require("@prisma/client");
const { assert, check, config, end, sleep } = require("../checks.js");

const db = new PrismaClient({ adapter: new PrismaMariaDb({ ...config, connectionLimit: 4, allowPublicKeyRetrieval: true }) });

async function code(query) {
  try {
    await query;
  } catch (e) {
    return e.code;
  }
  throw new Error("accepted");
}

async function main() {
  await check("the schema that Prisma's migration makes", async () => {
    const text = readFileSync("migration.sql", "utf8").replace(/^--.*$/gm, "");
    for (const statement of text.split(";").filter((s) => s.trim())) await db.$executeRawUnsafe(statement);
    const rows = await db.$queryRaw`SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1`;
    assert.deepEqual(rows.map((r) => r.name), ["Author", "Book", "Profile", "Tag", "Types", "_BookToTag"]);
  });

  await check("types there and back", async () => {
    const at = new Date("2026-02-28T23:59:59.123Z");
    const values = {
      id: 18446744073709551615n, d: new Prisma.Decimal("-123456789012345.6789"), f: 0.1, t: "Ünï 🚀 '\\\"", b: Buffer.from([0, 255, 39, 92]), da: new Date("2026-02-28"), dt: at,
      ts: new Date("2026-02-28T23:59:59Z"), ti: new Date("1970-01-01T23:59:58Z"), j: { a: [1, "ß", null] }, bo: true, n: null, small: -32768, y: 2026, role: "WRITER", single: 1.5,
    };
    await db.types.create({ data: values });
    const got = await db.types.findFirstOrThrow({ where: { f: 0.1, dt: at, t: { contains: "🚀" }, d: { lt: 0 }, j: { path: "$.a[1]", equals: "ß" } } });
    assert.equal(got.d.toString(), values.d.toString());
    assert.deepEqual(Buffer.from(got.b), values.b);
    for (const name of ["d", "b"]) delete got[name];
    const { d, b, ...want } = values;
    assert.deepEqual(got, want);
  });

  await check("nested writes, relations", async () => {
    const ada = await db.author.create({
      data: {
        name: "Ada", role: "WRITER", profile: { create: { bio: "wrote" } },
        books: { create: [{ title: "one", pages: 10, price: "1.50", tags: { create: [{ name: "new" }, { name: "short" }] } }, { title: "two", pages: 20, price: "2.25", tags: { connectOrCreate: { where: { name: "new" }, create: { name: "new" } } } }] },
        pupils: { create: { name: "Bo", books: { create: { title: "three", pages: 30 } } } },
      },
      include: { books: { include: { tags: { orderBy: { name: "asc" } } }, orderBy: { id: "asc" } }, profile: true, pupils: true },
    });
    assert.deepEqual(ada.books.map((b) => [b.title, b.tags.map((t) => t.name)]), [["one", ["new", "short"]], ["two", ["new"]]]);
    assert.deepEqual([ada.profile.bio, ada.pupils[0].name], ["wrote", "Bo"]);
    for (const relationLoadStrategy of ["join", "query"]) {
      const authors = await db.author.findMany({ relationLoadStrategy, include: { books: { orderBy: { price: "desc" }, take: 1 }, mentor: { select: { name: true } }, _count: { select: { books: true } } }, orderBy: { name: "asc" } });
      assert.deepEqual(authors.map((a) => [a.name, a.books[0].title, a.mentor && a.mentor.name, a._count.books]), [["Ada", "two", null, 2], ["Bo", "three", "Ada", 1]]);
    }
    const names = async (where) => (await db.author.findMany({ where, orderBy: { name: "asc" } })).map((a) => a.name).join();
    assert.equal(await names({ books: { some: { tags: { some: { name: "short" } } } } }), "Ada");
    assert.equal(await names({ books: { every: { pages: { gte: 20 } } } }), "Bo");
    assert.equal(await names({ books: { none: { title: { startsWith: "th" } } }, NOT: { profile: null } }), "Ada");
    assert.equal(await names({ OR: [{ mentor: { is: { name: "Ada" } } }, { name: { in: ["Ada", "x"] } }] }), "Ada,Bo");
  });

  await check("aggregates, pages", async () => {
    await db.book.createMany({ data: Array.from({ length: 100 }, (_, i) => ({ title: "b" + i, pages: i % 10, authorId: 2 })) });
    const sums = await db.book.groupBy({ by: ["authorId"], _sum: { pages: true }, _avg: { price: true }, _max: { title: true }, having: { pages: { _avg: { gt: 5 } } }, orderBy: { _count: { id: "desc" } } });
    assert.deepEqual(sums.map((s) => [s.authorId, s._sum.pages, s._avg.price.toString(), s._max.title]), [[1, 30, "1.875", "two"]]);
    assert.equal((await db.book.aggregate({ _count: true, where: { pages: { lt: 5 } } }))._count, 50);
    const first = await db.book.findMany({ where: { authorId: 2 }, orderBy: [{ pages: "desc" }, { id: "asc" }], take: 3 });
    const next = await db.book.findMany({ where: { authorId: 2 }, orderBy: [{ pages: "desc" }, { id: "asc" }], take: 3, skip: 1, cursor: { id: first[2].id } });
    assert.deepEqual(first.concat(next).map((b) => b.title), ["three", "b9", "b19", "b29", "b39", "b49"]);
    assert.equal((await db.book.findMany({ distinct: ["pages"], orderBy: { pages: "asc" } })).length, 13);
  });

  await check("upsert, updates, errors", async () => {
    for (const pages of [1, 2]) await db.book.upsert({ where: { authorId_title: { authorId: 1, title: "four" } }, create: { authorId: 1, title: "four", pages }, update: { pages: { increment: 10 }, price: { multiply: 2 } } });
    assert.equal((await db.book.findUnique({ where: { authorId_title: { authorId: 1, title: "four" } } })).pages, 11);
    assert.equal((await db.tag.createMany({ data: [{ name: "new" }, { name: "other" }], skipDuplicates: true })).count, 1);
    assert.equal((await db.book.updateMany({ where: { author: { name: "Bo" }, pages: 9 }, data: { pages: { decrement: 1 } } })).count, 10);
    assert.equal(await code(db.author.create({ data: { name: "Ada" } })), "P2002");
    assert.equal(await code(db.book.create({ data: { title: "x", authorId: 99 } })), "P2003");
    assert.equal(await code(db.author.delete({ where: { id: 1 } })), "P2003");
    assert.equal(await code(db.author.update({ where: { id: 99 }, data: { name: "x" } })), "P2025");
    assert.equal(await code(db.author.create({ data: { name: "x".repeat(51) } })), "P2000");
    await db.book.update({ where: { id: 1 }, data: { tags: { set: [{ name: "other" }] }, author: { connect: { name: "Bo" } } } });
    assert.deepEqual(await db.book.findUnique({ where: { id: 1 }, select: { authorId: true, tags: { select: { name: true } } } }), { authorId: 2, tags: [{ name: "other" }] });
  });

  await check("transactions", async () => {
    await assert.rejects(db.$transaction([db.tag.deleteMany(), db.author.create({ data: { name: "Ada" } })]));
    assert.equal(await db.tag.count(), 3);
    await assert.rejects(db.$transaction(async (tx) => {
      await tx.author.update({ where: { id: 1 }, data: { active: false } });
      throw new Error("no");
    }, { isolationLevel: "Serializable" }), /^Error: no$/);
    assert.equal((await db.author.findUnique({ where: { id: 1 } })).active, true);
    const level = await db.$transaction((tx) => tx.$queryRaw`SELECT @@transaction_isolation AS level`, { isolationLevel: "ReadCommitted" });
    assert.equal(level.length, 1);
  });

  await check("locks", async () => {
    let waiter, waits = true;
    await db.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT id FROM Author WHERE id = ${1} FOR UPDATE`;
      assert.equal(await code(db.$queryRaw`SELECT id FROM Author WHERE id = 1 FOR UPDATE NOWAIT`), "P2010");
      assert.deepEqual(await db.$queryRaw`SELECT name FROM Author ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`, [{ name: "Bo" }]);
      waiter = db.author.update({ where: { id: 1 }, data: { name: "Eve" } }).then((row) => { waits = false; return row; });
      await sleep(200);
      assert(waits);
      await tx.author.update({ where: { id: 1 }, data: { role: "READER" } });
    });
    assert.deepEqual([(await waiter).role, waits], ["READER", false]);
  });

  await check("raw queries, the dictionary", async () => {
    const ids = [1, 2];
    assert.deepEqual(await db.$queryRaw`SELECT name FROM Author WHERE id IN (${Prisma.join(ids)}) ORDER BY id`, [{ name: "Eve" }, { name: "Bo" }]);
    assert.equal(await db.$executeRaw`UPDATE Author SET active = ${false} WHERE id = ${2}`, 1);
    const keys = await db.$queryRaw`
      SELECT DISTINCT BINARY index_name AS index_name, non_unique AS non_unique, BINARY column_name AS column_name, seq_in_index AS seq_in_index, BINARY table_name AS table_name, sub_part AS partial, BINARY collation AS column_order,
        CASE index_type WHEN 'FULLTEXT' THEN true ELSE false END AS is_fulltext
      FROM INFORMATION_SCHEMA.STATISTICS WHERE table_schema = ${config.database} AND table_name = 'Book' ORDER BY BINARY table_name, BINARY index_name, seq_in_index`; // as the schema engine asks
    assert.deepEqual(keys.map((k) => [Buffer.from(k.index_name).toString(), k.seq_in_index, Buffer.from(k.column_order).toString()]),
      [["Book_authorId_title_key", 1, "A"], ["Book_authorId_title_key", 2, "A"], ["Book_pages_idx", 1, "D"], ["PRIMARY", 1, "A"]]);
  });

  await db.$disconnect();
  end();
}

main();
