import os
import shutil
import sys
import tempfile

import pymysql

pymysql.version_info = (2, 2, 4, "final", 0)  # Django asks for mysqlclient of that version
pymysql.install_as_MySQLdb()

import django
from django.conf import settings

from checks import DATABASE, HOST, PASSWORD, PORT, USER, check, end, equal

work = tempfile.mkdtemp()
app = os.path.join(work, "shop")
os.makedirs(os.path.join(app, "migrations"))
open(os.path.join(app, "__init__.py"), "w").close()
open(os.path.join(app, "migrations", "__init__.py"), "w").close()
sys.path.insert(0, work)
sys.dont_write_bytecode = True


def models(extra="", total="models.DecimalField(max_digits=10, decimal_places=2)"):
    with open(os.path.join(app, "models.py"), "w") as f:
        f.write(f'''
from django.db import models
class Customer(models.Model):
    name = models.CharField(max_length=60, unique=True)
    settings = models.JSONField(default=dict)
    {extra}
class Order(models.Model):
    customer = models.ForeignKey(Customer, on_delete=models.CASCADE, related_name="orders")
    total = {total}
    placed = models.DateTimeField(auto_now_add=True)
    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(total__gte=0), name="total_positive"), models.UniqueConstraint(fields=["customer", "placed"], name="once")]
        indexes = [models.Index(fields=["placed", "-total"], name="by_time")]
class Tag(models.Model):
    label = models.SlugField()
    orders = models.ManyToManyField(Order, related_name="tags")
''')


models()
settings.configure(
    SECRET_KEY="x", USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"],
    INSTALLED_APPS=["django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "django.contrib.messages", "shop"],
    MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware", "django.contrib.messages.middleware.MessageMiddleware"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True, "OPTIONS": {"context_processors": ["django.template.context_processors.request", "django.contrib.auth.context_processors.auth", "django.contrib.messages.context_processors.messages"]}}],
    DATABASES={"default": {"ENGINE": "django.db.backends.mysql", "NAME": DATABASE, "USER": USER, "PASSWORD": PASSWORD, "HOST": HOST, "PORT": PORT, "OPTIONS": {"charset": "utf8mb4"}}},
)
django.setup()

from django.contrib import admin
from django.core.management import call_command
from django.db import IntegrityError, connection, models as m, transaction
from django.urls import path

urlpatterns = [path("admin/", admin.site.urls)]
quiet = {"verbosity": 0}


@check("makemigrations and migrate, Django's own apps too")
def _():
    call_command("makemigrations", "shop", **quiet)
    call_command("migrate", **quiet)
    equal(connection.introspection.table_names().count("shop_order"), 1)


from shop.models import Customer, Order, Tag


@check("create and relate")
def _():
    for name, totals in (("Ada", (10, 20)), ("Bo", (5,)), ("Cy", ())):
        c = Customer.objects.create(name=name, settings={"lang": name, "n": [1, 2]})
        for t in totals:
            Tag.objects.get_or_create(label="red")[0].orders.add(Order.objects.create(customer=c, total=t))
    equal(list(Customer.objects.annotate(n=m.Count("orders"), s=m.Sum("orders__total")).order_by("name").values_list("name", "n", "s")), [("Ada", 2, 30), ("Bo", 1, 5), ("Cy", 0, None)])
    equal([o.customer.name for o in Order.objects.select_related("customer").order_by("total")], ["Bo", "Ada", "Ada"])
    equal(sorted(len(c.orders.all()) for c in Customer.objects.prefetch_related("orders__tags")), [0, 1, 2])


@check("subqueries, Exists, windows, union, JSON")
def _():
    newest = Order.objects.filter(customer=m.OuterRef("pk")).order_by("-total")
    equal(list(Customer.objects.annotate(top=m.Subquery(newest.values("total")[:1])).order_by("name").values_list("top", flat=True)), [20, 5, None])
    equal([c.name for c in Customer.objects.filter(~m.Exists(newest))], ["Cy"])
    rank = m.Window(m.functions.RowNumber(), partition_by=[m.F("customer")], order_by=m.F("total").desc())
    equal(list(Order.objects.annotate(r=rank).order_by("total").values_list("r", flat=True)), [1, 2, 1])
    equal(Customer.objects.filter(name="Ada").union(Customer.objects.filter(name="Bo")).count(), 2)
    equal(Customer.objects.get(settings__lang="Bo").name, "Bo")
    equal(Customer.objects.filter(settings__n__contains=[1]).count(), 3)
    equal(Order.objects.filter(customer__name__icontains="a", tags__label="red").distinct().count(), 2)


@check("bulk, upsert, update by expression, delete by join")
def _():
    Tag.objects.bulk_create([Tag(label=f"t{i}") for i in range(50)], batch_size=20)
    Customer.objects.bulk_create([Customer(id=1, name="Ada", settings={})], update_conflicts=True, update_fields=["settings"])
    Order.objects.update(total=m.F("total") + 1)
    equal(Order.objects.aggregate(m.Sum("total"))["total__sum"], 38)
    equal(Order.objects.filter(customer__name="Bo").delete()[0] >= 1, True)


@check("pages")
def _():
    from django.core.paginator import Paginator

    pages = Paginator(Tag.objects.order_by("label"), 20)
    equal((pages.count, len(pages.page(3).object_list)), (51, 11))


@check("transactions, savepoints, locks")
def _():
    with transaction.atomic():
        equal(Customer.objects.select_for_update().get(name="Ada").name, "Ada")
        try:
            with transaction.atomic():
                Customer.objects.create(name="Ada")
        except IntegrityError:
            pass
        Customer.objects.create(name="Dee")
    equal(Customer.objects.filter(name__in=["Ada", "Dee"]).count(), 2)


@check("constraints")
def _():
    for bad in (lambda: Order.objects.create(customer_id=1, total=-5), lambda: Order.objects.create(customer_id=777, total=5)):
        try:
            with transaction.atomic():
                bad()
        except (IntegrityError, django.db.utils.OperationalError):
            continue
        raise AssertionError("accepted")


@check("a second migration")
def _():
    models('email = models.EmailField(null=True, db_index=True)', "models.DecimalField(max_digits=12, decimal_places=3, default=0)")
    for name in [n for n in sys.modules if n.startswith("shop")]:
        del sys.modules[name]
    import subprocess

    # A process of its own sees the changed models.
    code = "import sys; sys.argv=['x']; exec(open('second.py').read())"
    env = dict(os.environ, SHOP=work, PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(done.stderr[-300:])
    with connection.cursor() as c:
        columns = {d.name: d for d in connection.introspection.get_table_description(c, "shop_customer")}
    equal("email" in columns, True)


@check("generated fields and indexes on expressions")
def _():
    class Line(m.Model):
        price = m.IntegerField()
        count = m.IntegerField(default=1)
        word = m.CharField(max_length=20, default="")
        sum = m.GeneratedField(expression=m.F("price") * m.F("count"), output_field=m.IntegerField(), db_persist=True)
        upper = m.GeneratedField(expression=m.functions.Upper("word"), output_field=m.CharField(max_length=20), db_persist=False)

        class Meta:
            app_label = "shop"
            indexes = [m.Index(m.functions.Lower("word"), name="by_lower"), m.Index(fields=["upper"], name="by_upper")]

    with connection.schema_editor() as editor:
        editor.create_model(Line)
    line = Line.objects.create(price=3, count=4, word="aB")
    line.refresh_from_db()
    equal((line.sum, line.upper), (12, "AB"))
    Line.objects.update(count=m.F("count") + 1)
    equal(Line.objects.annotate(low=m.functions.Lower("word")).get(low="ab", upper="AB").sum, 15)
    with connection.cursor() as c:
        equal("by_lower" in connection.introspection.get_constraints(c, "shop_line"), True)
    with connection.schema_editor() as editor:
        editor.remove_index(Line, Line._meta.indexes[0])
        editor.delete_model(Line)


@check("admin")
def _():
    from django.contrib.auth.models import User
    from django.test import Client

    User.objects.create_superuser("root", password="x")
    client = Client()
    equal(client.login(username="root", password="x"), True)
    for page in ("/admin/", "/admin/auth/user/?q=ro", "/admin/auth/user/add/", "/admin/auth/group/"):
        equal(client.get(page).status_code, 200)


@check("flush and inspectdb")
def _():
    call_command("flush", interactive=False, **quiet)
    equal(Customer.objects.count(), 0)
    with open(os.devnull, "w") as null:
        call_command("inspectdb", stdout=null)


shutil.rmtree(work)
end()
