"""aiomysql and asyncmy: what their users do at once, then the steps of all drivers of Python's DB-API, each connection on an event loop of its own."""
import asyncio
import sys

import aiomysql
import asyncmy
from sqlalchemy import ForeignKey, String, select
from sqlalchemy.dialects.mysql import insert
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship, selectinload

from checks import DATABASE, HOST, PASSWORD, PORT, USER, check, end, equal
from dbapi import trial

ACCOUNT = {"host": HOST, "port": PORT, "user": USER, "password": PASSWORD, "charset": "utf8mb4"}


class Cursor:
    """A cursor of an asynchronous driver, used as one that waits."""

    def __init__(self, loop, inner):
        self.loop, self.inner = loop, inner

    def execute(self, sql, args=()):
        return self.loop.run_until_complete(self.inner.execute(sql, args or None))

    def executemany(self, sql, args):
        return self.loop.run_until_complete(self.inner.executemany(sql, args))

    def _fetched(self, name):
        got = getattr(self.inner, name)()
        return self.loop.run_until_complete(got) if asyncio.iscoroutine(got) or asyncio.isfuture(got) else got

    def fetchall(self):
        return self._fetched("fetchall")

    def fetchone(self):
        return self._fetched("fetchone")

    lastrowid = property(lambda self: self.inner.lastrowid)
    rowcount = property(lambda self: self.inner.rowcount)


class Connection:
    def __init__(self, driver, database):
        self.loop = asyncio.new_event_loop()
        self.inner = self.wait(driver.connect(db=database, **ACCOUNT))

    def wait(self, step):
        async def awaited():
            return await step

        return self.loop.run_until_complete(awaited())

    def cursor(self):
        made = self.inner.cursor()
        return Cursor(self.loop, self.wait(made) if hasattr(made, "__await__") and not hasattr(made, "execute") else made)

    def commit(self):
        self.wait(self.inner.commit())

    def rollback(self):
        self.wait(self.inner.rollback())

    def close(self):
        self.inner.close()
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()


async def pooled(driver):
    """Twenty tasks over a pool of five connections."""
    pool = await driver.create_pool(minsize=1, maxsize=5, db=DATABASE, **ACCOUNT)

    async def add(i):
        async with pool.acquire() as con:
            async with con.cursor() as cur:
                await con.begin()
                await cur.execute("SELECT n FROM pooled WHERE id = 1 FOR UPDATE")
                (n,) = await cur.fetchone()
                await cur.execute("UPDATE pooled SET n = %s WHERE id = 1", (n + i,))
                await con.commit()

    async with pool.acquire() as con:
        async with con.cursor() as cur:
            await cur.execute("CREATE TABLE pooled (id INT PRIMARY KEY, n INT)")
            await cur.execute("INSERT INTO pooled VALUES (1, 0)")
            await con.commit()
    await asyncio.gather(*(add(i) for i in range(20)))
    async with pool.acquire() as con:
        async with con.cursor(driver.cursors.DictCursor) as cur:
            await cur.execute("SELECT n FROM pooled")
            equal(await cur.fetchall(), [{"n": 190}])
        async with con.cursor(driver.cursors.SSCursor) as cur:
            await cur.execute("WITH RECURSIVE s AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM s WHERE i < 900) SELECT i FROM s")
            equal(len([row async for row in cur]), 900)
        async with con.cursor() as cur:
            await cur.execute("DROP TABLE pooled")
    pool.close()
    await pool.wait_closed()


class Base(DeclarativeBase):
    pass


class Shelf(Base):
    __tablename__ = "shelf"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(40), unique=True)
    things: Mapped[list["Thing"]] = relationship(cascade="all, delete-orphan")


class Thing(Base):
    __tablename__ = "thing"
    id: Mapped[int] = mapped_column(primary_key=True)
    shelf_id: Mapped[int] = mapped_column(ForeignKey("shelf.id"))
    name: Mapped[str] = mapped_column(String(40))


async def mapped(name):
    """SQLAlchemy's asynchronous sessions."""
    engine = create_async_engine(f"mysql+{name}://{USER}:{PASSWORD.replace(' ', '%20')}@{HOST}:{PORT}/{DATABASE}?charset=utf8mb4")
    async with engine.begin() as con:
        await con.run_sync(Base.metadata.create_all)
    async with AsyncSession(engine, expire_on_commit=False) as session:
        session.add_all([Shelf(name="a", things=[Thing(name="x"), Thing(name="y")]), Shelf(name="b")])
        await session.commit()
        await session.execute(insert(Shelf).values(name="b").on_duplicate_key_update(name="c"))
        await session.commit()
        shelves = (await session.scalars(select(Shelf).options(selectinload(Shelf.things)).order_by(Shelf.name).execution_options(populate_existing=True))).all()
        equal([(s.name, sorted(t.name for t in s.things)) for s in shelves], [("a", ["x", "y"]), ("c", [])])
        async with session.begin_nested() as nested:
            await session.delete(shelves[0])
            await session.flush()
            await nested.rollback()
        await session.commit()
        equal([t.name for t in await session.scalars(select(Thing).order_by(Thing.name.desc()).limit(1).offset(1))], ["x"])
        await session.commit()
    async with engine.begin() as con:
        await con.run_sync(Base.metadata.drop_all)
    await engine.dispose()


for driver in (aiomysql, asyncmy) if len(sys.argv) == 1 else ():

    @check(f"{driver.__name__}: a pool of tasks")
    def _():
        asyncio.run(pooled(driver))

    @check(f"{driver.__name__}: SQLAlchemy's asynchronous sessions")
    def _():
        asyncio.run(mapped(driver.__name__))


if len(sys.argv) > 1:  # the steps of all drivers end the program
    name = sys.argv[1]
    driver = {"aiomysql": aiomysql, "asyncmy": asyncmy}[name]
    trial(lambda: Connection(driver, DATABASE), driver.IntegrityError if name == "aiomysql" else asyncmy.errors.IntegrityError)
end()
