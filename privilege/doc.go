// Package privilege holds the accounts of the node: who may log in, with which password, and what each may do.
//
// # Place
//
// server asks it for credentials when a client connects; session asks it before each statement. Accounts are records in the key space,
// cached whole in memory: a check is a map lookup and a few bit tests.
//
// # Terms
//
//   - account: user@host. A host is a name, an address, a subnet (CIDR or with a netmask), or a pattern with % and _;
//     an empty one is any.
//   - level: what a grant covers: everything, one database (a pattern), or one table.
//
// # Invariants
//
//  1. The cache equals the records: a change is committed before it is cached, under one lock. A statement about several accounts is
//     one transaction (Store.Update).
//  2. Of several accounts that match a client, the one with the most specific host wins (MySQL's order).
//  3. Passwords are kept hashed (caching_sha2_password: salted SHA-256, 5,000 rounds); no method gives one back.
//  4. A fresh directory has one account, root@localhost without password, which reaches the server from this machine only.
//
// # Record
//
// The key is the system space 'u' with user and host; the value is JSON, because accounts are few, read at start only, and gain fields.
//
// # Absent on purpose
//
// Column privileges, roles, password policies, resource limits and accounts without a user name answer 1235.
package privilege
