// Makes webhooks/*/testdata/vectors.json: deliveries with bodies of our own and random secrets, each signed by the program openssl as the provider
// documents it. So the verifiers are tested against signatures that their own code did not make.
//
//   node scripts/vectors.mjs                makes all of them again
//   node scripts/vectors.mjs --check DIR    checks them by the providers' official Node libraries, installed below DIR:
//       npm install --prefix DIR --ignore-scripts stripe standardwebhooks @adyen/api-library razorpay square @paddle/paddle-node-sdk braintree
//
// It needs Node 20 and openssl 3. It is no part of the program.
import { execFileSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";

const vectorsOf = (provider) => new URL(`../webhooks/${provider === "standardwebhooks" ? "standard" : provider}/testdata/vectors.json`, import.meta.url).pathname;
const now = Math.floor(Date.now() / 1000) + 60; // the receiver's clock: after the certificate was made
const work = mkdtempSync(join(tmpdir(), "vectors-"));

const openssl = (args, input) => execFileSync("openssl", args, { input, stdio: ["pipe", "pipe", "pipe"] });
const hmac = (hash, key, text) => openssl(["mac", "-digest", hash, "-macopt", `hexkey:${Buffer.from(key).toString("hex")}`, "-binary", "-in", "-", "HMAC"], text);
const digest = (hash, text) => openssl(["dgst", `-${hash}`, "-binary"], text);
const secret = (n = 24) => randomBytes(n).toString("base64url");
const attempt = () => randomUUID();
const form = (fields) => new URLSearchParams(fields).toString();

// Ed25519 and RSA keys come from openssl, too.
const file = (name, content) => { const path = join(work, name); if (content !== undefined) writeFileSync(path, content); return path; };
const ed25519 = () => {
	const key = file("ed.pem", openssl(["genpkey", "-algorithm", "ed25519"]));
	const der = openssl(["pkey", "-in", key, "-pubout", "-outform", "DER"]);
	return { key, public: `whpk_${der.subarray(-32).toString("base64")}` };
};

// paypalCertificates are a root and the certificate of a signer, valid for a hundred years.
const paypalCertificates = () => {
	const root = file("root.pem"), rootKey = file("root.key"), key = file("leaf.key"), request = file("leaf.csr"), leaf = file("leaf.pem");
	openssl(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", rootKey, "-out", root, "-days", "36500", "-subj", "/CN=paylatch test root"]);
	openssl(["req", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request, "-subj", "/CN=messageverificationcerts.sandbox.paypal.com"]);
	const extensions = file("leaf.ext", "subjectAltName=DNS:messageverificationcerts.sandbox.paypal.com\nextendedKeyUsage=serverAuth,clientAuth\n");
	openssl(["x509", "-req", "-in", request, "-CA", root, "-CAkey", rootKey, "-CAcreateserial", "-out", leaf, "-days", "36500", "-extfile", extensions]);
	return { key, root: readFileSync(root, "utf8"), leaf: readFileSync(leaf, "utf8") };
};

// crc32 is read from the end of a gzip stream (RFC 1952, 2.3.1).
const crc32 = (text) => gzipSync(text).readUInt32LE(gzipSync(text).length - 8);

// flipped is a body with another amount, or another subject if it has no amount, so that the signature does not cover it.
const flipped = (body) => [["1999", "1998"], ["19.99", "19.98"], ["bt_payload=P", "bt_payload=Q"], ["OWN1", "OWN2"], ["own1", "own2"]]
	.reduce((done, [from, to]) => (done === body ? body.replace(from, to) : done), body);

const json = (value) => JSON.stringify(value);

// bodyMAC is the most common scheme: a MAC over the raw body, in one header.
const bodyMAC = (header, text, name, hash = "sha256", encoding = "hex", prefix = "") => {
	const key = secret();
	return [{
		id: name, secret: key, headers: { "Content-Type": ["application/json"], [header]: [prefix + hmac(hash, key, text).toString(encoding)] }, body: text,
	}];
};

const makers = {
	stripe: () => {
		const key = `whsec_${secret()}`, id = attempt();
		const body = json({
			id: "evt_own_1", object: "event", api_version: "2025-03-31.basil", created: now - 2, type: "payment_intent.succeeded", livemode: false,
			data: { object: { id: "pi_own_1", object: "payment_intent", amount: 1999, amount_received: 1999, currency: "eur", status: "succeeded", metadata: { payment_attempt_id: id } } },
		});
		const t = now - 1, sum = hmac("sha256", key, `${t}.${body}`).toString("hex");
		return [{ id: "payment-intent", secret: key, now, headers: { "Stripe-Signature": [`t=${t},v1=${sum}`] }, body },
			{ id: "rotated-secret", secrets: [`whsec_${secret()}`, key], now, headers: { "Stripe-Signature": [`t=${t},v1=${"0".repeat(64)},v1=${sum}`] }, body },
			{ id: "too-old", secret: key, now: now + 400, headers: { "Stripe-Signature": [`t=${t},v1=${sum}`] }, body, expected_valid: false }];
	},
	standardwebhooks: () => {
		const raw = randomBytes(32), pair = ed25519(), stamp = String(now - 1), id = "msg_own_1";
		const body = json({ id: "evt_own_1", type: "charge.succeeded", created: new Date((now - 2) * 1000).toISOString(), data: { charge_id: "ch_own_1", refund_id: null, reference: attempt(), amount: 1999, currency: "EUR", failure_code: null } });
		const text = `${id}.${stamp}.${body}`;
		const symmetric = `v1,${hmac("sha256", raw, text).toString("base64")}`;
		const asymmetric = `v1a,${openssl(["pkeyutl", "-sign", "-inkey", pair.key, "-rawin", "-in", file("ed.txt", text)]).toString("base64")}`;
		const headers = (signature) => ({ "webhook-id": [id], "webhook-timestamp": [stamp], "webhook-signature": [signature] });
		const whsec = `whsec_${raw.toString("base64")}`;
		return [{ id: "v1", secret: whsec, now, headers: headers(symmetric), body },
			{ id: "v1a", secret: pair.public, now, headers: headers(asymmetric), body },
			{ id: "both", secret: whsec, now, headers: headers(`${asymmetric} ${symmetric}`), body },
			{ id: "too-old", secret: whsec, now: now + 400, headers: headers(symmetric), body, expected_valid: false }];
	},
	adyen: () => {
		const key = randomBytes(32).toString("hex").toUpperCase();
		const item = {
			pspReference: "OWN1PSPREFERENCE", merchantAccountCode: "OwnMerchant", merchantReference: attempt(), amount: { value: 1999, currency: "EUR" },
			eventCode: "AUTHORISATION", success: "true", eventDate: "2026-09-21T14:13:18+02:00", paymentMethod: "visa",
		};
		const text = [item.pspReference, "", item.merchantAccountCode, item.merchantReference, item.amount.value, item.amount.currency, item.eventCode, item.success].join(":");
		const sum = hmac("sha256", Buffer.from(key, "hex"), text).toString("base64");
		const body = json({ live: "false", notificationItems: [{ NotificationRequestItem: { ...item, additionalData: { hmacSignature: sum } } }] });
		const raw = json({ type: "balancePlatform.payment.created", environment: "test", data: { id: "OWN1", reference: attempt() } });
		return [{ id: "authorisation", secret: key, headers: {}, body, signed_string: text },
			{ id: "raw-body", secret: key, headers: { hmacSignature: [hmac("sha256", Buffer.from(key, "hex"), raw).toString("base64")] }, body: raw }];
	},
	paypal: () => {
		const made = paypalCertificates(), id = "OWN1WEBHOOK", transmission = randomUUID(), time = new Date((now - 2) * 1000).toISOString().replace(".000", "");
		const body = json({
			id: "WH-OWN-1", event_version: "1.0", create_time: time, resource_type: "capture", resource_version: "2.0", event_type: "PAYMENT.CAPTURE.COMPLETED",
			resource: { id: "OWN1CAPTURE", status: "COMPLETED", amount: { currency_code: "EUR", value: "19.99" }, custom_id: attempt(), invoice_id: "A-1", final_capture: true, supplementary_data: { related_ids: { order_id: "OWN1ORDER" } } },
		});
		const text = `${transmission}|${time}|${id}|${crc32(body)}`;
		const sum = openssl(["dgst", "-sha256", "-sign", made.key], text).toString("base64");
		const headers = {
			"PAYPAL-AUTH-ALGO": ["SHA256withRSA"], "PAYPAL-CERT-URL": ["https://api.sandbox.paypal.com/v1/notifications/certs/CERT-own-1"],
			"PAYPAL-TRANSMISSION-ID": [transmission], "PAYPAL-TRANSMISSION-SIG": [sum], "PAYPAL-TRANSMISSION-TIME": [time],
		};
		return [{ id: "capture-completed", webhook_id: id, now, cert_pem: made.leaf, roots_pem: made.root, headers, body, signed_string: text },
			{ id: "another-webhook", webhook_id: "OWN2WEBHOOK", now, cert_pem: made.leaf, roots_pem: made.root, headers, body, expected_valid: false }];
	},
	cloudpayments: () => {
		const key = secret();
		const body = form({ TransactionId: "1001", Amount: "19.99", Currency: "RUB", PaymentAmount: "19.99", PaymentCurrency: "RUB", InvoiceId: attempt(), AccountId: "u 1", Status: "Completed", OperationType: "Payment", DateTime: "2026-09-21 12:13:18", TestMode: "1" });
		const sum = (text) => hmac("sha256", key, text).toString("base64");
		return [{ id: "pay-raw", topic: "pay", secret: key, headers: { "Content-Type": ["application/x-www-form-urlencoded"], "Content-HMAC": [sum(body)] }, body },
			{ id: "pay-decoded", topic: "pay", secret: key, headers: { "Content-Type": ["application/x-www-form-urlencoded"], "X-Content-HMAC": [sum(decodeURIComponent(body.replaceAll("+", " ")))] }, body }];
	},
	tbank: () => {
		const password = secret(12);
		const fields = { TerminalKey: "OwnTerminal", OrderId: attempt(), Success: true, Status: "CONFIRMED", PaymentId: 1001, ErrorCode: "0", Amount: 1999, CardId: 7, Pan: "220000******0004", ExpDate: "1230" };
		const signed = { ...fields, Password: password };
		const text = Object.keys(signed).sort().map((k) => String(signed[k])).join("");
		const body = json({ ...fields, Data: { ignored: "nested" }, Token: digest("sha256", text).toString("hex") });
		return [{ id: "confirmed", secret: password, headers: { "Content-Type": ["application/json"] }, body, signed_string: text }];
	},
	robokassa: () => ["md5", "sha1", "sha256", "sha384", "sha512"].map((hash) => {
		const password = secret(12), id = attempt();
		const text = `19.990000:1001:${password}:Shp_attempt=${id}`;
		const body = form({ OutSum: "19.990000", InvId: "1001", EMail: "", Shp_attempt: id, SignatureValue: digest(hash, text).toString("hex").toUpperCase() });
		return { id: `result-${hash}`, secret: password, hash, headers: { "Content-Type": ["application/x-www-form-urlencoded"] }, body, signed_string: text };
	}),
	square: () => {
		const key = secret(), url = "https://shop.example/webhooks/square";
		const body = json({ merchant_id: "OWN1", type: "payment.updated", event_id: randomUUID(), created_at: "2026-09-21T12:13:18Z", data: { type: "payment", id: "own1", object: { payment: { id: "own1", status: "COMPLETED", reference_id: attempt(), amount_money: { amount: 1999, currency: "EUR" }, total_money: { amount: 1999, currency: "EUR" } } } } });
		const sum = hmac("sha256", key, url + body).toString("base64");
		return [{ id: "payment-updated", secret: key, url, headers: { "x-square-hmacsha256-signature": [sum] }, body },
			{ id: "another-address", secret: key, url: `${url}2`, headers: { "x-square-hmacsha256-signature": [sum] }, body, expected_valid: false }];
	},
	braintree: () => {
		const key = secret(), name = "own_public_key";
		const xml = '<?xml version="1.0" encoding="UTF-8"?>\n<notification>\n<timestamp type="datetime">2026-09-21T12:13:18Z</timestamp>\n<kind>transaction_settled</kind>\n<subject>\n<transaction>\n<id>own1</id>\n<order-id>A-1</order-id>\n<status>settled</status>\n<amount>19.99</amount>\n<currency-iso-code>EUR</currency-iso-code>\n</transaction>\n</subject>\n</notification>\n';
		const payload = `${Buffer.from(xml).toString("base64").replace(/(.{60})/g, "$1\n")}\n`;
		const sum = hmac("sha1", digest("sha1", key), payload).toString("hex");
		return [{ id: "transaction-settled", secret: key, public_key: name, headers: { "Content-Type": ["application/x-www-form-urlencoded"] }, body: form({ bt_signature: `${name}|${sum}`, bt_payload: payload }) }];
	},
	comgate: () => {
		const key = secret(), body = form({ merchant: "100001", test: "true", price: "1999", curr: "EUR", label: "A-1", refId: attempt(), transId: "OWN1-OWN1-OWN1", secret: key, status: "PAID" });
		return [{ id: "push", secret: key, headers: { "Content-Type": ["application/x-www-form-urlencoded"] }, body },
			{ id: "another-secret", secret: secret(), headers: { "Content-Type": ["application/x-www-form-urlencoded"] }, body, expected_valid: false }];
	},
	paddle: () => {
		const key = `pdl_ntfset_${secret()}`, t = now - 1;
		const body = json({ event_id: "ntf_own_1", event_type: "transaction.completed", occurred_at: "2026-09-21T12:13:18.000000Z", notification_id: "ntf_own_1", data: { id: "txn_own_1", status: "completed", currency_code: "EUR", custom_data: { payment_attempt_id: attempt() }, details: { totals: { grand_total: "1999", currency_code: "EUR" } } } });
		const sum = hmac("sha256", key, `${t}:${body}`).toString("hex");
		return [{ id: "transaction-completed", secret: key, now, headers: { "Paddle-Signature": [`ts=${t};h1=${sum}`] }, body },
			{ id: "too-old", secret: key, now: now + 60, headers: { "Paddle-Signature": [`ts=${t};h1=${sum}`] }, body, expected_valid: false }];
	},
	razorpay: () => bodyMAC("X-Razorpay-Signature", json({ entity: "event", event: "payment.captured", contains: ["payment"], payload: { payment: { entity: { id: "pay_own1", order_id: "order_own1", amount: 1999, currency: "INR", status: "captured", captured: true, notes: { payment_attempt_id: attempt() } } } }, created_at: now }), "payment-captured"),
	checkout: () => bodyMAC("Cko-Signature", json({ id: "evt_own1", type: "payment_captured", created_on: "2026-09-21T12:13:18Z", data: { id: "pay_own1", action_id: "act_own1", reference: attempt(), amount: 1999, currency: "EUR" } }), "payment-captured"),
	gocardless: () => bodyMAC("Webhook-Signature", json({ events: [{ id: "EVOWN1", created_at: "2026-09-21T12:13:18.000Z", resource_type: "payments", action: "confirmed", links: { payment: "PMOWN1" }, details: { origin: "gocardless", cause: "payment_confirmed" } }] }), "payment-confirmed"),
	lemonsqueezy: () => bodyMAC("X-Signature", json({ meta: { event_name: "order_created", test_mode: true, custom_data: { payment_attempt_id: attempt() } }, data: { type: "orders", id: "1001", attributes: { identifier: randomUUID(), currency: "EUR", total: 1999, status: "paid", updated_at: "2026-09-21T12:13:18.000000Z" } } }), "order-created"),
	mollie: () => bodyMAC("X-Mollie-Signature", json({ resource: "event", id: "event_own1", type: "payment-link.paid", entityId: "pl_own1", createdAt: "2026-09-21T12:13:18Z" }), "payment-link-paid", "sha256", "hex", "sha256="),
};

// spoiled is each genuine delivery with an unsigned body.
const spoiled = (vectors) => vectors.filter((v) => v.expected_valid && v.body !== flipped(v.body) && v.id !== "push").map((v) => ({ ...v, id: `${v.id}-changed`, body: flipped(v.body), expected_valid: false, signed_string: undefined }));

function make() {
	for (const [provider, maker] of Object.entries(makers)) {
		const made = maker().map((v) => ({ method: "POST", kind: "own", expected_valid: true, ...v }));
		const vectors = [...made, ...spoiled(made)];
		mkdirSync(dirname(vectorsOf(provider)), { recursive: true });
		writeFileSync(vectorsOf(provider), `${JSON.stringify({ made_by: "scripts/vectors.mjs", vectors }, null, 1)}\n`);
		console.log(`${provider}: ${vectors.length} vectors`);
	}
}

// The official libraries, each used as its documentation shows. They return, or throw for a forged delivery.
const libraries = (require) => ({
	stripe: (v) => (v.secrets ?? [v.secret]).some((s) => attemptTo(() => new (require("stripe"))("sk_test_unused").webhooks.constructEvent(v.body, v.headers["Stripe-Signature"][0], s, 300, undefined, v.now * 1000))),
	standardwebhooks: (v) => (v.secret.startsWith("whpk_") ? undefined : attemptAsync(() => at(v.now, () => new (require("standardwebhooks").Webhook)(v.secret).verify(v.body, flat(v.headers))))),
	adyen: (v) => {
		const Validator = require("@adyen/api-library").hmacValidator, validator = new Validator();
		const items = JSON.parse(v.body).notificationItems;
		if (!items) return attemptTo(() => validator.validateBankingHMAC(v.headers.hmacSignature[0], v.secret, v.body));
		return attemptTo(() => validator.validateHMAC(items[0].NotificationRequestItem, v.secret));
	},
	razorpay: (v) => attemptTo(() => require("razorpay").validateWebhookSignature(v.body, v.headers["X-Razorpay-Signature"][0], v.secret)),
	square: (v) => attemptAsync(() => require("square").WebhooksHelper.verifySignature({ requestBody: v.body, signatureHeader: v.headers["x-square-hmacsha256-signature"][0], signatureKey: v.secret, notificationUrl: v.url })),
	paddle: (v) => attemptAsync(() => at(v.now, () => new (require("@paddle/paddle-node-sdk").Paddle)("unused").webhooks.isSignatureValid(v.body, v.secret, v.headers["Paddle-Signature"][0]))),
	braintree: (v) => {
		const b = require("braintree"), gateway = new b.BraintreeGateway({ environment: b.Environment.Sandbox, merchantId: "own", publicKey: v.public_key, privateKey: v.secret });
		const fields = new URLSearchParams(v.body);
		return attemptAsync(() => gateway.webhookNotification.parse(fields.get("bt_signature"), fields.get("bt_payload")));
	},
});

const flat = (headers) => Object.fromEntries(Object.entries(headers).map(([k, [value]]) => [k, value]));
const attemptTo = (f) => { try { return f() !== false; } catch { return false; } };
const attemptAsync = async (f) => { try { return (await f()) !== false; } catch { return false; } };

// at runs f while the clock shows the receiver's time.
async function at(seconds, f) {
	const RealDate = Date;
	globalThis.Date = class extends RealDate { constructor(...a) { super(...(a.length ? a : [seconds * 1000])); } static now() { return seconds * 1000; } };
	try { return await f(); } finally { globalThis.Date = RealDate; }
}

async function check(dir) {
	const require = createRequire(join(dir, "node_modules", "index.js"));
	let wrong = 0;
	for (const [provider, verify] of Object.entries(libraries(require))) {
		let agreed = 0, left = 0;
		for (const v of JSON.parse(readFileSync(vectorsOf(provider), "utf8")).vectors) {
			const got = await verify(v);
			if (got === undefined) left++;
			else if (got === v.expected_valid) agreed++;
			else { wrong++; console.error(`${provider} ${v.id}: the library says ${got}`); }
		}
		console.log(`${provider}: the official library agrees on ${agreed}${left ? `, ${left} not for it` : ""}`);
	}
	process.exitCode = wrong ? 1 : 0;
}

try {
	if (process.argv[2] === "--check") await check(process.argv[3]);
	else make();
} finally {
	rmSync(work, { recursive: true, force: true });
}
