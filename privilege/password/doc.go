// Package password hashes passwords as MySQL stores them, and verifies what clients send to prove that they know them.
//
// # Place
//
// wire verifies logins with it; server gives its Hash to sessions, which hash the passwords that statements set and store them by package
// privilege. It knows neither packets nor accounts, only bytes.
//
// # Terms
//
//   - challenge: SaltBytes random bytes that the server sends; the reply proves a password without showing it.
//   - native: mysql_native_password. '*' and the hex digits of SHA1(SHA1(password)) are stored.
//   - caching SHA-2: caching_sha2_password. "$A$005$", a salt and the SHA-256-crypt hash of 5,000 rounds are stored; a reply can be verified
//     against a digest that only a verified password leaves in the Cache.
//
// # Invariants
//
//  1. No comparison of secrets takes a time that depends on where they differ.
//  2. At most as many slow hashes run at once as there are processors (Cache), so that a flood of logins
//     does not stop those who have logged in.
//  3. The cache holds no password: what it has verifies replies and is found only while the stored hash is the same.
//  4. Who guesses is answered later and later, and what is remembered of those who guess is bounded (Guesses).
//  5. Cache.mu and Guesses.mu are leaves: nothing is called while they are held.
package password
