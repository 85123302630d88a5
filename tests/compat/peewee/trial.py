import peewee as pw
from playhouse.migrate import MySQLMigrator, migrate
from playhouse.reflection import Introspector

from checks import DATABASE, HOST, PASSWORD, PORT, USER, check, end, equal

db = pw.MySQLDatabase(DATABASE, host=HOST, port=PORT, user=USER, password=PASSWORD)


class Base(pw.Model):
    class Meta:
        database = db


class Person(Base):
    name = pw.CharField(unique=True)


class Pet(Base):
    owner = pw.ForeignKeyField(Person, backref="pets", on_delete="CASCADE")
    name = pw.CharField()
    age = pw.IntegerField(default=1, constraints=[pw.Check("age >= 0")])


@check("create tables")
def _():
    db.create_tables([Person, Pet])


@check("insert and relate")
def _():
    ada, bo = Person.create(name="Ada"), Person.create(name="Bo")
    Pet.insert_many([{"owner": ada, "name": "Rex"}, {"owner": ada, "name": "Cat", "age": 5}, {"owner": bo, "name": "Fish"}]).execute()
    q = Person.select(Person, pw.fn.COUNT(Pet.id).alias("n")).join(Pet, pw.JOIN.LEFT_OUTER).group_by(Person).order_by(Person.name)
    equal([(p.name, p.n) for p in q], [("Ada", 2), ("Bo", 1)])
    equal([p.name for p in Pet.select().where(Pet.owner.in_(Person.select().where(Person.name == "Ada"))).order_by(Pet.name)], ["Cat", "Rex"])


@check("pages, prefetch, upsert")
def _():
    equal([p.name for p in Pet.select().order_by(Pet.name).paginate(2, 2)], ["Rex"])
    equal(sorted(len(p.pets) for p in pw.prefetch(Person.select(), Pet.select())), [1, 2])
    Person.insert(id=1, name="Ada").on_conflict(preserve=[Person.name], update={}).execute()
    equal(Person.insert(name="Ada").on_conflict_ignore().execute() is not None, True)


@check("transactions and locks")
def _():
    with db.atomic() as t:
        Pet.delete().execute()
        t.rollback()
    equal(Pet.select().count(), 3)
    with db.atomic():
        equal(Person.select().where(Person.id == 1).for_update().get().name, "Ada")


@check("cascade")
def _():
    Person.get(name="Ada").delete_instance()
    equal(Pet.select().count(), 1)


@check("migrations and introspection")
def _():
    m = MySQLMigrator(db)
    migrate(m.add_column("pet", "colour", pw.CharField(null=True)), m.add_index("pet", ("name", "age"), True))
    migrate(m.rename_column("pet", "colour", "tint"), m.drop_not_null("pet", "name"))
    migrate(m.drop_index("pet", "pet_name_age"))
    models = Introspector.from_database(db).generate_models()
    equal(sorted(models), ["person", "pet"])
    equal(sorted(models["pet"]._meta.fields), ["age", "id", "name", "owner", "tint"])


end()
