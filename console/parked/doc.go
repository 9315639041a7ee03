// Package parked reads a ledger with what the translators have parked marked as parked, of which the
// ledger does not know.
package parked
