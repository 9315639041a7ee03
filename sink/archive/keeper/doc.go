// Package keeper seals captures by itself once they have ended, were silent for long, or have grown long,
// and, where it is told to, gives the space back that what is sealed takes on the streams and in the ledger.
//
//	ledger ──which are due──▶ Sealer ──▶ archive ──read back, compared──▶ what was given back ──▶ purge
//
// Sealing is safe however many keepers do it: what a seal covers is decided by an object that is put only
// if absent. Two places of steno delete anything. Dropping from the ledger (drop.go) is one transaction there for
// each piece, which keeps by what it can be told again. Giving back does of one capture, in this order, and
// whoever is killed anywhere is followed by one that begins at the first step again:
//
//  0. puts back what a keeper that was killed in 5 may have taken too much
//  1. looks that nothing holds the capture: it is parked nowhere, a snapshot stands that the translator can
//     go on from, and its partition has a mark
//  2. reads the frames and records that are sealed and old enough out of the archive, each part by the
//     SHA-256 in its seal, and compares each with the message that is to go
//  3. writes down what is given back, before any of it is: up to which frame, which archive has it, and how
//     far each journal had come by then
//  4. purges the capture's subject on STENO_RAW, and that on STENO_EVENTS, by stream sequence
//  5. deletes the bytes of large frames from STENO_BLOBS that the archive has and no message names
//
// What may come in between, and why nothing is lost by it:
//
//	a frame is appended          the bound is a sequence below the subject's last message at the time, and that
//	                             one stays; the fence of the next append is what it was
//	a publisher asks what of its the frames that would tell are gone; 3 says it, and was there before they went. So
//	journal is stored            nothing is stored twice, whatever became of the journal's own mark
//	a translator begins          it finds the snapshot of 1, or a newer one: a snapshot that can be used is never
//	                             replaced by an older one
//	a translator reads frames    it misses some, and begins again with the snapshot that stands by then; only where
//	that go away                 there is nothing new is the capture parked as sealed away
//	a worker takes a partition   the mark's own frame and record are never purged, so it begins there
//	a reader reads frames        what it misses it reads out of the archive, which has it since 2
//	an append finds bytes in     5 looks again afterwards whether a message names them, and puts them back; the append
//	the bucket that are going    looks once its frame is stored. Whoever dies on the way, the archive has them, and the
//	                             next keeper puts them back, whatever holds the capture by then
//	bytes go that are to be read readers find them in the archive; a translator begins again, as above
//	the sink begins anew         it reads what is left: the ledger has the rest, for only what it has is sealed
//	the store is put back from   the connection was lost in between, and 3 and 4 are not done over another one than 2,
//	an older copy                nor is 4 where another message than the one compared stands last; a request that could
//	                             not be sent is not kept (see Options.JS)
//	two keepers                  both compare, 3 is written by compare-and-swap, and purging twice is purging once
//
// What no keeper can know is another ledger on the same streams that has not stored the records yet: Keep is
// the time that it has.
package keeper
