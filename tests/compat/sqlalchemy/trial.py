import datetime
import decimal

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy.dialects.mysql import insert
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, aliased, mapped_column, relationship, selectinload

from checks import DATABASE, HOST, PASSWORD, PORT, USER, check, end, equal

engine = sa.create_engine(f"mysql+pymysql://{USER}:{PASSWORD}@{HOST}:{PORT}/{DATABASE}?charset=utf8mb4")


class Base(DeclarativeBase):
    pass


tagging = sa.Table("tagging", Base.metadata, sa.Column("item_id", sa.ForeignKey("item.id", ondelete="CASCADE"), primary_key=True), sa.Column("tag_id", sa.ForeignKey("tag.id"), primary_key=True))


class Customer(Base):
    __tablename__ = "customer"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(60), unique=True)
    settings: Mapped[dict] = mapped_column(sa.JSON, default=dict)
    born: Mapped[datetime.date | None]
    orders: Mapped[list["Order"]] = relationship(back_populates="customer", cascade="all, delete-orphan")


class Order(Base):
    __tablename__ = "orders"
    __table_args__ = (sa.CheckConstraint("total >= 0", name="total_positive"), sa.Index("by_customer_and_time", "customer_id", "placed"))
    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int] = mapped_column(sa.ForeignKey("customer.id"))
    parent_id: Mapped[int | None] = mapped_column(sa.ForeignKey("orders.id", ondelete="SET NULL"))
    total: Mapped[decimal.Decimal] = mapped_column(sa.Numeric(10, 2))
    placed: Mapped[datetime.datetime] = mapped_column(server_default=sa.func.now())
    customer: Mapped[Customer] = relationship(back_populates="orders")
    items: Mapped[list["Item"]] = relationship(passive_deletes="all")


class Item(Base):
    __tablename__ = "item"
    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(sa.ForeignKey("orders.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(sa.Text)
    quantity: Mapped[int] = mapped_column(sa.SmallInteger, server_default="1")
    tags: Mapped[list["Tag"]] = relationship(secondary=tagging)


class Tag(Base):
    __tablename__ = "tag"
    id: Mapped[int] = mapped_column(primary_key=True)
    label: Mapped[str] = mapped_column(sa.String(20))


@check("create all")
def _():
    Base.metadata.create_all(engine)


@check("insert with relations")
def _():
    with Session(engine) as s:
        for name, totals in (("Ada", (10, 20)), ("Bo", (5,)), ("Cy", ())):
            c = Customer(name=name, settings={"lang": name}, born=datetime.date(1990, 1, 2))
            for t in totals:
                c.orders.append(Order(total=decimal.Decimal(t), items=[Item(name=f"i{t}", tags=[Tag(label="red")]), Item(name="second")]))
            s.add(c)
        s.commit()


@check("joins and eager loading")
def _():
    with Session(engine) as s:
        q = sa.select(Customer).options(selectinload(Customer.orders).selectinload(Order.items).selectinload(Item.tags)).order_by(Customer.name)
        equal([(c.name, sorted(o.total for o in c.orders)) for c in s.scalars(q)], [("Ada", [10, 20]), ("Bo", [5]), ("Cy", [])])
        q = sa.select(Customer.name, sa.func.coalesce(sa.func.sum(Order.total), 0)).outerjoin(Order).group_by(Customer.id).order_by(Customer.name)
        equal([tuple(r) for r in s.execute(q)], [("Ada", 30), ("Bo", 5), ("Cy", 0)])


@check("subqueries, CTE, windows, UNION")
def _():
    with Session(engine) as s:
        other = aliased(Order)
        biggest = sa.select(sa.func.max(other.total)).where(other.customer_id == Order.customer_id).scalar_subquery()
        equal(s.scalars(sa.select(Order.total).where(Order.total == biggest).order_by(Order.total)).all(), [5, 20])
        equal(s.scalars(sa.select(Customer.name).where(~Customer.orders.any())).all(), ["Cy"])
        equal(s.scalars(sa.select(Customer.name).where(Customer.id.in_(sa.select(Order.customer_id))).order_by(Customer.name)).all(), ["Ada", "Bo"])
        n = sa.select(sa.literal(1).label("n")).cte("n", recursive=True)
        n = n.union_all(sa.select(n.c.n + 1).where(n.c.n < 5))
        equal(s.scalar(sa.select(sa.func.sum(n.c.n))), 15)
        rank = sa.func.row_number().over(partition_by=Order.customer_id, order_by=Order.total.desc()).label("rank_")
        equal([tuple(r) for r in s.execute(sa.select(Order.total, rank).order_by(Order.total))], [(5, 1), (10, 2), (20, 1)])
        equal(sorted(s.scalars(sa.union(sa.select(Customer.name), sa.select(Tag.label))).all()), ["Ada", "Bo", "Cy", "red"])


@check("JSON path")
def _():
    with Session(engine) as s:
        equal(s.scalars(sa.select(Customer.name).where(Customer.settings["lang"].as_string() == "Bo")).all(), ["Bo"])


@check("upsert")
def _():
    with engine.begin() as c:
        q = insert(Customer.__table__).values(id=1, name="Ada", settings={})
        c.execute(q.on_duplicate_key_update(name=sa.func.concat(q.inserted.name, "!")))
        equal(c.scalar(sa.select(Customer.name).where(Customer.id == 1)), "Ada!")


@check("pages, locks and rollback")
def _():
    with Session(engine) as s:
        equal(len(s.scalars(sa.select(Order).order_by(Order.id).limit(2).offset(1)).all()), 2)
        o = s.scalars(sa.select(Order).with_for_update(skip_locked=True).order_by(Order.id)).first()
        o.total = 99
        with s.begin_nested() as nested:
            s.execute(sa.delete(Item))
            nested.rollback()
        s.rollback()
        equal(s.scalar(sa.select(sa.func.count()).select_from(Item)), 6)
        equal(s.scalar(sa.select(sa.func.max(Order.total))), 20)


@check("constraints")
def _():
    for bad in (sa.insert(Order).values(customer_id=1, total=-1), sa.insert(Order).values(customer_id=77, total=1), sa.delete(Customer).where(Customer.id == 1)):
        try:
            with engine.begin() as c:
                c.execute(bad)
        except sa.exc.DBAPIError:
            continue
        raise AssertionError("accepted: " + str(bad))


@check("cascades")
def _():
    with Session(engine) as s:
        s.delete(s.scalars(sa.select(Customer).where(Customer.name == "Bo")).one())
        s.commit()
        equal(s.scalar(sa.select(sa.func.count()).select_from(Item)), 4)


@check("reflection")
def _():
    inspector = sa.inspect(engine)
    equal(sorted(inspector.get_table_names()), ["customer", "item", "orders", "tag", "tagging"])
    equal(inspector.get_check_constraints("orders")[0]["name"], "total_positive")
    equal({f["referred_table"] for f in inspector.get_foreign_keys("orders")}, {"customer", "orders"})
    equal([i["column_names"] for i in inspector.get_indexes("orders") if i["name"] == "by_customer_and_time"], [["customer_id", "placed"]])
    metadata = sa.MetaData()
    metadata.reflect(engine)
    equal(len(metadata.tables["item"].columns), 4)


@check("Alembic sees no difference")
def _():
    with engine.connect() as c:
        equal(compare_metadata(MigrationContext.configure(c, opts={"compare_type": True}), Base.metadata), [])


@check("Alembic migration")
def _():
    with engine.begin() as c:
        op = Operations(MigrationContext.configure(c))
        op.add_column("customer", sa.Column("email", sa.String(100), nullable=True))
        op.create_index("by_email", "customer", ["email"], unique=True)
        c.execute(sa.text("UPDATE customer SET email = name"))
        op.alter_column("customer", "email", new_column_name="mail", existing_type=sa.String(100), type_=sa.String(200), nullable=False, server_default="")
        op.drop_index("by_email", "customer")
        op.drop_constraint("total_positive", "orders", type_="check")
        op.create_table("note", sa.Column("id", sa.Integer, primary_key=True), sa.Column("order_id", sa.Integer, sa.ForeignKey("orders.id")))
        op.drop_table("note")


@check("computed columns and indexes on expressions")
def _():
    metadata = sa.MetaData()
    table = sa.Table(
        "computed", metadata, sa.Column("id", sa.Integer, primary_key=True), sa.Column("net", sa.Numeric(10, 2)), sa.Column("doc", sa.JSON),
        sa.Column("gross", sa.Numeric(12, 2), sa.Computed("net * 2")), sa.Column("name", sa.String(30), sa.Computed("doc->>'$.name'", persisted=True), index=True),
    )
    sa.Index("by_double", sa.func.abs(table.c.net))
    metadata.create_all(engine)
    with engine.begin() as c:
        c.execute(table.insert(), [{"id": 1, "net": 10, "doc": {"name": "a"}}, {"id": 2, "net": -30, "doc": {"name": "b"}}])
        equal(c.execute(sa.select(table.c.gross).where(table.c.name == "b")).scalar(), -60)
        equal(c.execute(sa.select(table.c.id).where(sa.func.abs(table.c.net) > 20)).scalar(), 2)
        c.execute(table.update().values(net=table.c.net + 1))
        equal(c.execute(sa.select(table.c.gross).order_by(table.c.id)).scalars().all(), [22, -58])
    columns = {c["name"]: c.get("computed") for c in sa.inspect(engine).get_columns("computed")}
    equal((columns["gross"]["persisted"], columns["name"]["persisted"], columns["net"]), (False, True, None))
    metadata.drop_all(engine)


@check("pandas")
def _():
    import pandas

    frame = pandas.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"], "c": pandas.to_datetime(["2026-01-01", "2026-01-02", None])})
    frame.to_sql("frame", engine, index=False, if_exists="replace", method="multi")
    equal(pandas.read_sql("SELECT a, b FROM frame ORDER BY a DESC", engine)["a"].tolist(), [3, 2, 1])


@check("drop all")
def _():
    with engine.begin() as c:
        c.execute(sa.text("DROP TABLE frame"))
    Base.metadata.drop_all(engine)
    equal(sa.inspect(engine).get_table_names(), [])


end()
