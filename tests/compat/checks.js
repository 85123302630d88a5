// Runs the steps of a trial one after the other and prints one line for each: ok or not ok.
const assert = require("assert");
const env = process.env;
const config = { host: env.HOST, port: Number(env.PORT), user: env.DBUSER, password: env.PASSWORD, database: env.DATABASE };
let failed = false;

async function check(name, step) {
  try {
    await step();
    console.log("ok - " + name);
  } catch (e) {
    failed = true;
    console.log(`not ok - ${name}: ${String((e && (e.sqlMessage || e.message)) || e).replace(/\s+/g, " ").slice(0, 300)}`);
    console.error(e);
  }
}

function end() {
  process.exit(failed ? 1 : 0);
}

const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

module.exports = { assert, check, config, end, sleep };
