<?php
// Laravel's Eloquent, its builder of queries and its migrations.
require __DIR__ . '/../checks.php';
require 'Illuminate/Database/autoload.php';
error_reporting(E_ALL & ~E_DEPRECATED); // the distribution's package is older than its PHP

use Illuminate\Database\Capsule\Manager as DB;
use Illuminate\Database\Eloquent\Model;
use Illuminate\Database\Eloquent\ModelNotFoundException;
use Illuminate\Database\Eloquent\SoftDeletes;
use Illuminate\Database\QueryException;
use Illuminate\Database\Schema\Blueprint;

$capsule = new DB();
foreach (['default', 'other'] as $name) {
    $capsule->addConnection(['driver' => 'mysql', 'host' => getenv('HOST'), 'port' => getenv('PORT'), 'database' => getenv('DATABASE'), 'username' => getenv('DBUSER'), 'password' => getenv('PASSWORD'),
        'charset' => 'utf8mb4', 'collation' => 'utf8mb4_unicode_ci', 'prefix' => '', 'strict' => true, 'engine' => 'InnoDB', 'timezone' => '+00:00', 'isolation_level' => 'REPEATABLE READ'], $name);
}
$capsule->setAsGlobal();
$capsule->bootEloquent();

class Author extends Model
{
    protected $guarded = [];
    protected $casts = ['active' => 'boolean', 'settings' => 'array'];
    public function books() { return $this->hasMany(Book::class); }
    public function profile() { return $this->hasOne(Profile::class); }
}

class Profile extends Model
{
    protected $guarded = [];
    public function author() { return $this->belongsTo(Author::class); }
}

class Book extends Model
{
    use SoftDeletes;
    protected $guarded = [];
    protected $casts = ['price' => 'decimal:2'];
    public function author() { return $this->belongsTo(Author::class); }
    public function tags() { return $this->belongsToMany(Tag::class)->withPivot('weight')->withTimestamps(); }
    public function notes() { return $this->morphMany(Note::class, 'about'); }
}

class Tag extends Model
{
    protected $guarded = [];
    public function books() { return $this->belongsToMany(Book::class); }
}

class Note extends Model
{
    protected $guarded = [];
    public function about() { return $this->morphTo(); }
}

function refused(callable $step): int
{
    try {
        $step();
    } catch (QueryException $e) {
        return $e->errorInfo[1];
    }
    throw new Exception('accepted');
}

check('what it sets at connect', function () {
    equal(DB::select('SELECT @@sql_mode AS m, @@time_zone AS z, @@collation_connection AS c')[0]->z, '+00:00');
    equal(str_contains(DB::select('SELECT @@sql_mode AS m')[0]->m, 'ERROR_FOR_DIVISION_BY_ZERO'), true);
});

check('migrations', function () {
    $schema = DB::schema();
    $schema->create('authors', function (Blueprint $t) {
        $t->id();
        $t->string('name', 50)->unique()->comment('who writes');
        $t->boolean('active')->default(true);
        $t->json('settings')->nullable();
        $t->rememberToken();
        $t->timestamps();
    });
    $schema->create('profiles', function (Blueprint $t) {
        $t->uuid('id')->primary();
        $t->foreignId('author_id')->constrained()->cascadeOnUpdate()->cascadeOnDelete();
        $t->text('bio');
        $t->ipAddress('seen')->nullable();
        $t->timestamps(6);
    });
    $schema->create('books', function (Blueprint $t) {
        $t->id();
        $t->foreignId('author_id')->constrained();
        $t->string('title')->index();
        $t->decimal('price', 10, 2)->default(0);
        $t->enum('kind', ['novel', 'poem'])->default('novel');
        $t->unsignedInteger('pages')->default(0);
        $t->string('slug')->storedAs("LOWER(REPLACE(title, ' ', '-'))")->nullable();
        $t->integer('half')->virtualAs('pages DIV 2');
        $t->softDeletes();
        $t->timestamps();
        $t->unique(['author_id', 'title']);
    });
    $schema->create('tags', function (Blueprint $t) {
        $t->id();
        $t->string('name')->unique();
        $t->timestamps();
    });
    $schema->create('book_tag', function (Blueprint $t) {
        $t->foreignId('book_id')->constrained()->onDelete('cascade');
        $t->foreignId('tag_id')->constrained()->onDelete('cascade');
        $t->integer('weight')->default(1);
        $t->timestamps();
        $t->primary(['book_id', 'tag_id']);
    });
    $schema->create('notes', function (Blueprint $t) {
        $t->id();
        $t->morphs('about');
        $t->longText('body');
        $t->timestamps();
    });
    $schema->create('types', function (Blueprint $t) {
        $t->bigInteger('id', false, true)->primary();
        $t->double('f');
        $t->binary('b');
        $t->date('da');
        $t->dateTime('dt', 6);
        $t->time('ti');
        $t->year('y');
        $t->char('c', 3)->charset('latin1')->collation('latin1_bin');
        $t->set('s', ['a', 'b']);
    });
});

check('types there and back', function () {
    $row = ['id' => '18446744073709551615', 'f' => 0.1, 'b' => "\0\xff'\\", 'da' => '2026-02-28', 'dt' => '2026-02-28 23:59:59.123456', 'ti' => '-30:00:01', 'y' => '2026', 'c' => 'é', 's' => 'a,b'];
    DB::table('types')->insert($row);
    $got = DB::table('types')->where('c', 'é')->where('dt', $row['dt'])->whereTime('dt', '>', '23:00')->whereDate('dt', '2026-02-28')->whereYear('dt', 2026)->first();
    equal((array) $got, $row);
});

check('relations', function () {
    $ada = Author::create(['name' => 'Ada', 'settings' => ['colour' => 'red', 'sizes' => [1, 2]]]);
    $bo = Author::create(['name' => 'Bo', 'active' => false]);
    $ada->profile()->create(['id' => '0b9d1d52-7a04-4c33-8a4e-0d36a7a1c8a1', 'bio' => 'wrote', 'seen' => '::1']);
    $ada->books()->createMany([['title' => 'One Two', 'pages' => 11, 'price' => '1.50'], ['title' => 'Three', 'pages' => 20, 'price' => '2.25']]);
    $bo->books()->create(['title' => 'Four', 'kind' => 'poem']);
    $one = Book::where('title', 'One Two')->first();
    equal([$one->fresh()->slug, $one->fresh()->half, $one->price], ['one-two', 5, '1.50']);
    $new = Tag::create(['name' => 'new']);
    $old = Tag::create(['name' => 'old']);
    $one->tags()->attach([$new->id => ['weight' => 5], $old->id => ['weight' => 1]]);
    $one->tags()->sync([$new->id => ['weight' => 7]]);
    equal($one->tags()->get()->map(fn ($t) => [$t->name, $t->pivot->weight])->all(), [['new', 7]]);
    $one->notes()->create(['body' => 'read it']);
    equal(Note::with('about')->first()->about->title, 'One Two');
    $authors = Author::with(['books' => fn ($q) => $q->orderByDesc('price'), 'books.tags', 'profile'])->withCount(['books', 'books as poems_count' => fn ($q) => $q->where('kind', 'poem')])->withSum('books', 'price')->orderBy('name')->get();
    equal($authors->map(fn ($a) => [$a->name, $a->books_count, $a->poems_count, $a->books_sum_price, $a->books->pluck('title')->join(',')])->all(), [['Ada', 2, 0, '3.75', 'Three,One Two'], ['Bo', 1, 1, '0.00', 'Four']]);
    equal(Author::whereHas('books', fn ($q) => $q->where('pages', '>', 15), '>=', 1)->doesntHave('books.notes', 'and', fn ($q) => $q->where('body', 'x'))->pluck('name')->all(), ['Ada']);
    equal(Author::where('settings->colour', 'red')->whereJsonContains('settings->sizes', 2)->whereJsonLength('settings->sizes', 2)->pluck('name')->all(), ['Ada']);
    Author::where('name', 'Ada')->update(['settings->colour' => 'blue']);
    equal($ada->fresh()->settings, ['sizes' => [1, 2], 'colour' => 'blue']);
    equal(Author::addSelect(['last' => Book::select('title')->whereColumn('author_id', 'authors.id')->latest('id')->limit(1)])->orderBy('id')->pluck('last')->all(), ['Three', 'Four']);
});

check('errors, upsert', function () {
    equal(refused(fn () => Author::create(['name' => 'Ada'])), 1062);
    equal(refused(fn () => Book::create(['author_id' => 99, 'title' => 'x'])), 1452);
    equal(refused(fn () => DB::table('nowhere')->get()), 1146);
    equal(Author::upsert([['name' => 'Ada', 'active' => false], ['name' => 'Cy', 'active' => true]], ['name'], ['active']), 3);
    equal(DB::table('tags')->insertOrIgnore([['name' => 'new'], ['name' => 'other']]), 1);
    equal(DB::table('tags')->insertUsing(['name'], DB::table('authors')->select('name')->where('active', true)), 1);
    equal(Author::firstOrCreate(['name' => 'Di'])->wasRecentlyCreated, true);
    equal(Author::updateOrCreate(['name' => 'Di'], ['active' => false])->wasRecentlyCreated, false);
    equal(Book::where('title', 'Three')->increment('pages', 5, ['price' => 3]), 1);
    equal(Book::join('authors', 'authors.id', '=', 'books.author_id')->where('authors.name', 'Bo')->update(['books.pages' => 40]), 1);
    try {
        Author::findOrFail(99);
        throw new Exception('found');
    } catch (ModelNotFoundException) {
    }
});

check('soft deletes, deletes by a join', function () {
    Book::where('title', 'Four')->first()->delete();
    equal([Book::count(), Book::withTrashed()->count(), Book::onlyTrashed()->first()->title], [2, 3, 'Four']);
    Book::onlyTrashed()->restore();
    Book::where('title', 'Four')->forceDelete();
    equal(Book::withTrashed()->count(), 2);
    equal(DB::table('profiles')->join('authors', 'authors.id', '=', 'profiles.author_id')->where('authors.name', 'Bo')->delete(), 0);
});

check('pages, groups, unions', function () {
    DB::table('books')->insert(array_map(fn ($i) => ['author_id' => 2, 'title' => "b$i", 'pages' => $i % 10, 'created_at' => '2026-01-01'], range(1, 100)));
    $books = Book::where('author_id', 2)->orderBy('id');
    equal([$books->toBase()->getCountForPagination(), $books->forPage(3, 15)->get()->pluck('title')->first()], [100, 'b31']);
    equal(Book::where('author_id', 2)->orderByDesc('pages')->orderBy('id')->skip(2)->take(1)->value('title'), 'b29');
    $seen = 0;
    Book::chunkById(30, function ($books) use (&$seen) { $seen += count($books); });
    equal([$seen, Book::lazy(40)->count(), Book::cursor()->count()], [102, 102, 102]);
    equal(DB::table('books')->select('author_id', DB::raw('COUNT(*) AS n'))->groupBy('author_id')->having('n', '>', 50)->get()->map(fn ($r) => [$r->author_id, $r->n])->all(), [[2, 100]]);
    $titles = DB::table('books')->select('title')->where('pages', 25)->union(DB::table('tags')->select('name'))->orderBy('title')->get()->pluck('title')->all();
    equal($titles, ['Cy', 'new', 'old', 'other', 'Three']);
    equal(DB::table('books')->whereBetween('pages', [3, 4])->orWhereIn('id', [1])->whereNotNull('slug')->inRandomOrder('7')->get()->count(), 21);
    equal(DB::table(DB::table('books')->selectRaw('pages, ROW_NUMBER() OVER (PARTITION BY author_id ORDER BY pages DESC) AS place'), 'ranked')->where('place', 1)->orderBy('pages')->pluck('pages')->all(), [9, 25]);
    equal(Book::where('id', 1)->exists(), true);
});

check('transactions, savepoints, locks', function () {
    try {
        DB::transaction(function () {
            Author::create(['name' => 'Eve']);
            try {
                DB::transaction(function () {
                    Author::where('name', 'Eve')->delete();
                    throw new Exception('inner');
                });
            } catch (Exception) {
            }
            equal(Author::where('name', 'Eve')->count(), 1);
            throw new Exception('outer');
        });
    } catch (Exception $e) {
        equal($e->getMessage(), 'outer');
    }
    equal(Author::where('name', 'Eve')->count(), 0);
    $other = DB::connection('other');
    DB::connection()->beginTransaction();
    Author::where('name', 'Ada')->lockForUpdate()->first();
    equal(refused(fn () => $other->table('authors')->where('name', 'Ada')->lock('FOR UPDATE NOWAIT')->get()), 3572);
    equal($other->table('authors')->orderBy('name')->limit(1)->lock('FOR UPDATE SKIP LOCKED')->pluck('name')->all(), ['Bo']);
    $other->statement('SET SESSION innodb_lock_wait_timeout = 1');
    equal(refused(fn () => $other->table('authors')->where('name', 'Ada')->sharedLock()->get()), 1205);
    DB::connection()->commit();
    equal($other->table('authors')->where('name', 'Ada')->sharedLock()->count(), 1);
});

check('the dictionary', function () {
    $schema = DB::schema();
    equal([$schema->hasTable('books'), $schema->hasTable('nowhere'), $schema->hasColumns('books', ['id', 'slug'])], [true, false, true]);
    $columns = $schema->getColumnListing('book_tag'); // asked for without an order
    sort($columns);
    equal($columns, ['book_id', 'created_at', 'tag_id', 'updated_at', 'weight']);
    $tables = array_map(fn ($t) => array_values((array) $t)[0], $schema->getAllTables());
    equal($tables, ['authors', 'book_tag', 'books', 'notes', 'profiles', 'tags', 'types']);
});

check('changes of the schema', function () {
    $schema = DB::schema();
    $schema->table('books', function (Blueprint $t) {
        $t->string('isbn', 13)->after('title')->nullable()->comment("it's a number");
        $t->renameIndex('books_title_index', 'by_title');
        $t->dropForeign(['author_id']);
        $t->dropUnique(['author_id', 'title']);
        $t->foreign('author_id', 'written_by')->references('id')->on('authors')->onDelete('restrict')->onUpdate('cascade');
    });
    equal(DB::table('information_schema.columns')->where('table_schema', DB::connection()->getDatabaseName())->where('table_name', 'books')->orderBy('ordinal_position')->limit(4)->pluck('COLUMN_NAME')->all(), ['id', 'author_id', 'title', 'isbn']);
    $schema->table('books', function (Blueprint $t) {
        $t->dropColumn(['isbn', 'half']);
        $t->dropForeign('written_by');
        $t->dropSoftDeletes();
        $t->index([DB::raw('(LOWER(title))')], 'lower_title');
    });
    equal($schema->hasColumn('books', 'isbn'), false);
    $schema->rename('tags', 'labels');
    $schema->disableForeignKeyConstraints();
    foreach (['labels', 'authors', 'profiles', 'books', 'book_tag', 'notes', 'types'] as $table) {
        $schema->drop($table);
    }
    $schema->enableForeignKeyConstraints();
    equal($schema->getAllTables(), []);
});

check('its own table of migrations', function () {
    $repository = new Illuminate\Database\Migrations\DatabaseMigrationRepository($GLOBALS['capsule']->getDatabaseManager(), 'migrations');
    $repository->createRepository();
    $repository->log('2026_01_01_000000_first', 1);
    $repository->log('2026_01_02_000000_second', 2);
    equal([$repository->repositoryExists(), $repository->getRan(), $repository->getNextBatchNumber()], [true, ['2026_01_01_000000_first', '2026_01_02_000000_second'], 3]);
    equal(array_map(fn ($m) => $m->migration, $repository->getLast()), ['2026_01_02_000000_second']);
    DB::schema()->dropAllTables();
});

finish();
