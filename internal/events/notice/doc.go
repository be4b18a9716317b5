// Package notice mails new cases to a team. The cases are opened discrepancies, refunds that staff requested, and
// endpoints that began to fail.
//
//	discrepancy.opened ─► a cursor in the feed ─┐
//	                                            ├─► the kinds of the notice ─► one mail ─► recorded
//	open refund requests that it has not sent ──┤
//	endpoints with dead letters, or gone ───────┘
//
// A loop sends a notice in one process at a time, the holder of its lease. A mail has all new cases, and the next mail goes out a
// minute later at the soonest. The sent cases are recorded once the mail server has taken the mail, so an unavailable server
// delays mails and loses nothing. A process that dies between the two sends the cases again. The id of a mail is made of its
// cases, so mail servers that drop duplicates drop the second mail. Events that retention.events has deleted before they were
// sent are counted and logged, as for other readers of the feed; their cases are still in the worklist.
//
// A failing endpoint is sent once. It is sent again when it has dead letters and all of them are newer than that mail.
//
// A mail has ids, kinds, amounts and links, and no texts that people wrote.
package notice
