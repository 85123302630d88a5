<?php
// Runs the steps of a trial one after the other and prints one line for each: ok or not ok.
error_reporting(E_ALL);
mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
set_error_handler(function ($level, $text, $file, $line) {
    throw new ErrorException($text, 0, $level, $file, $line); // a warning of PHP fails a step
});
$failed = false;

function check(string $name, callable $step): void
{
    global $failed;
    try {
        $step();
        echo "ok - $name\n";
    } catch (Throwable $e) {
        $failed = true;
        echo "not ok - $name: ", substr(preg_replace('/\s+/', ' ', $e->getMessage()), 0, 300), "\n";
        fwrite(STDERR, $e . "\n");
    }
}

function equal($got, $want): void
{
    if ($got !== $want) {
        throw new Exception('got ' . var_export($got, true) . ', want ' . var_export($want, true));
    }
}

/** The number of the error with which a step fails. */
function fails(callable $step): int
{
    try {
        $step();
    } catch (mysqli_sql_exception $e) {
        return $e->getCode();
    } catch (PDOException $e) {
        return $e->errorInfo[1] ?? $e->getCode();
    }
    throw new Exception('accepted');
}

function finish(): never
{
    global $failed;
    exit($failed ? 1 : 0);
}
