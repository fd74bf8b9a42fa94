import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createWriteStream, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import amqp from "amqplib";
import pg from "pg";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const BINARY = process.env.PAYDESK_BIN ?? `${ROOT}/target/debug/paydesk`;
const SECRET = "a secret of the console's tests, longer than 32 bytes";

function needed(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the tests with \`make test\` or dev/web`);
  return value;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

/** Waits until `look` finds something. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  seconds = 20,
): Promise<T> {
  const deadline = Date.now() + seconds * 1_000;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A program of ours, its output in a file. */
class Program {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;

  constructor(args: string[], env: Record<string, string>, log: string) {
    const output = createWriteStream(log, { flags: "a" });
    this.#child = spawn(BINARY, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    this.#child.stdout?.pipe(output);
    this.#child.stderr?.pipe(output);
    this.#ended = new Promise((resolve) => this.#child.once("exit", () => resolve()));
  }

  async end(signal: NodeJS.Signals = "SIGTERM") {
    this.#child.kill(signal);
    await this.#ended;
  }
}

/** The real thing: a database, names at the broker, the simulated provider and a server of its own. */
export class Stack {
  readonly url: string;
  readonly db: pg.Client;
  readonly prefix: string;
  readonly #env: Record<string, string>;
  readonly #logs: string;
  readonly #simulator: Program;
  readonly #simulatorUrl: string;
  readonly #database: string;
  readonly #broker: amqp.ChannelModel;
  readonly #channel: amqp.Channel;
  #server: Program;
  #token = "";

  private constructor(parts: {
    port: number;
    env: Record<string, string>;
    logs: string;
    simulator: Program;
    simulatorUrl: string;
    server: Program;
    db: pg.Client;
    database: string;
    prefix: string;
    broker: amqp.ChannelModel;
    channel: amqp.Channel;
  }) {
    this.url = `http://127.0.0.1:${parts.port}`;
    this.#env = parts.env;
    this.#logs = parts.logs;
    this.#simulator = parts.simulator;
    this.#simulatorUrl = parts.simulatorUrl;
    this.#server = parts.server;
    this.db = parts.db;
    this.#database = parts.database;
    this.prefix = parts.prefix;
    this.#broker = parts.broker;
    this.#channel = parts.channel;
  }

  static async start(settings: Record<string, string> = {}): Promise<Stack> {
    const name = `console_${randomBytes(6).toString("hex")}`;
    const admin = new pg.Client(needed("DATABASE_URL"));
    await admin.connect();
    await admin.query(`CREATE DATABASE ${name}`);
    await admin.end();
    const database = new URL(needed("DATABASE_URL"));
    database.pathname = `/${name}`;

    const logs = `${ROOT}/web/test-results/logs`;
    mkdirSync(logs, { recursive: true });
    const [port, simulatorPort] = [await freePort(), await freePort()];
    const simulatorUrl = `http://127.0.0.1:${simulatorPort}`;
    const simulator = new Program(["simulate", "--listen", `127.0.0.1:${simulatorPort}`], {}, `${logs}/simulate.log`);
    const prefix = `${name}.`;
    const env = {
      DATABASE_URL: database.href,
      PAYDESK_AMQP_PREFIX: prefix,
      PAYDESK_AMQP_QUEUE_TYPE: "classic",
      PAYDESK_AMQP_RECONNECT_CAP: "300ms",
      PAYDESK_LISTEN: `127.0.0.1:${port}`,
      PAYDESK_ENVIRONMENT: "local",
      PAYDESK_DEV_LOGIN: "true",
      PAYDESK_SESSION_KEY: "a session key of the console's tests, also long",
      PAYDESK_JWT_HS256_SECRET: SECRET,
      PAYDESK_JWT_ISSUER: "paydesk-tests",
      PAYDESK_JWT_AUDIENCE: "paydesk",
      PAYDESK_TOSS_URL: `${simulatorUrl}/toss`,
      PAYDESK_TOSS_SECRET_KEY: "test_sk_sim0000000000000000",
      PAYDESK_TOSS_TEST_CARD: "4330000000000000:30:12:12:900101",
      PAYDESK_BOOTPAY_URL: `${simulatorUrl}/bootpay/v2`,
      PAYDESK_BOOTPAY_APPLICATION_ID: "sim_application_01",
      PAYDESK_BOOTPAY_PRIVATE_KEY: "sim_private_key01",
      PAYDESK_CHARGE_JOB_INTERVAL: "300ms",
      PAYDESK_CHARGE_JOB_BACKOFF: "300ms,300ms,300ms",
      PAYDESK_OUTBOX_PENDING_INTERVAL: "300ms",
      PAYDESK_OUTBOX_RETRY_INTERVAL: "300ms",
      PAYDESK_OUTBOX_BACKOFF_BASE: "300ms",
      PAYDESK_CONSUMER_RETRY_DELAY: "50ms",
      PAYDESK_RATE_LIMIT_OPERATOR: "100",
      ...settings,
    };
    const server = new Program(["serve"], env, `${logs}/serve.log`);
    const db = new pg.Client(database.href);
    // A server that is killed in between takes its connections along; ours stays.
    db.on("error", () => {});
    await db.connect();
    const broker = await amqp.connect(needed("AMQP_URL"));
    const channel = await broker.createChannel();
    const stack = new Stack({
      port,
      env,
      logs,
      simulator,
      simulatorUrl,
      server,
      db,
      database: name,
      prefix,
      broker,
      channel,
    });
    await stack.ready();
    stack.#token = await stack.sign("SERVICE", "tests");
    return stack;
  }

  async ready() {
    await eventually(
      "the server is ready, and its queues are consumed",
      async () => {
        const answer = await fetch(`${this.url}/readyz`).catch(() => undefined);
        const text = await answer?.text();
        return answer?.ok && text?.includes('"broker":"up"') && !text.includes("not consuming");
      },
      30,
    );
  }

  /** Ends the server and starts it again, as a deployment does. */
  async restart(whileDown: () => Promise<void> = async () => {}) {
    await this.#server.end();
    await whileDown();
    this.#server = new Program(["serve"], this.#env, `${this.#logs}/serve.log`);
    await this.ready();
  }

  async stop() {
    await this.#server.end();
    await this.#simulator.end();
    await this.db.end();
    for (const queue of ["payment.participant.register", "payment.participant.cancel", "payment.meeting.deleted"]) {
      await this.#channel.deleteQueue(`${this.prefix}${queue}`);
      await this.#channel.deleteQueue(`${this.prefix}${queue}.dlq`);
    }
    for (const exchange of ["payment.events", "meeting.events", "payment.dlx"])
      await this.#channel.deleteExchange(`${this.prefix}${exchange}`);
    await this.#broker.close();
    const admin = new pg.Client(needed("DATABASE_URL"));
    await admin.connect();
    await admin.query(`DROP DATABASE ${this.#database} WITH (FORCE)`);
    await admin.end();
  }

  /** A token, signed by the server's own command. */
  async sign(role: "ADMIN" | "OPERATOR" | "SERVICE", subject: string, ttl = "1h"): Promise<string> {
    const child = spawn(BINARY, ["token", "--role", role, "--subject", subject, "--ttl", ttl], {
      env: { ...process.env, ...this.#env },
    });
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
    });
    await new Promise((resolve) => child.once("close", resolve));
    return text.trim();
  }

  /** Runs an operation as a service, or with another token. */
  async gql<T = Record<string, unknown>>(query: string, variables: object = {}, token = this.#token): Promise<T> {
    const answer = await fetch(`${this.url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = (await answer.json()) as { data: T; errors?: unknown };
    if (errors) throw new Error(JSON.stringify(errors));
    return data;
  }

  /** Pays, and tells the payment's id. */
  async pay(more: { card?: string; amount?: number; orderName?: string } = {}): Promise<string> {
    const seat = String(Math.floor(Math.random() * 1e12) + 1);
    const data = await this.gql<{ createKeyInPayment: { payment: { id: string } } }>(
      `mutation ($input: CreateKeyInPaymentInput!) { createKeyInPayment(input: $input) { payment { id } userErrors { code } } }`,
      {
        input: {
          idempotencyKey: seat,
          userId: seat,
          meetingId: seat,
          orderName: more.orderName ?? "Dinner for two",
          amount: more.amount ?? 15_000,
          card: {
            number: more.card ?? "4330000000000000",
            expirationYear: "30",
            expirationMonth: "12",
            identityNumber: "900101",
          },
        },
      },
    );
    return data.createKeyInPayment.payment.id;
  }

  /** Tells the simulated provider how to behave. */
  async provider(behaviour: object) {
    await this.#control("behaviours", { gateway: "toss", ...behaviour });
  }

  async #control(what: string, body: object): Promise<Record<string, string>> {
    const answer = await fetch(`${this.#simulatorUrl}/_control/${what}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`the simulator answers ${answer.status}: ${await answer.text()}`);
    return answer.json().catch(() => ({}));
  }

  /** Makes a member and tells its id. */
  async member(nickname: string): Promise<string> {
    const query = "mutation ($input: MemberInput!) { upsertMember(input: $input) { member { id } } }";
    const data = await this.gql<{ upsertMember: { member: { id: string } } }>(query, { input: { nickname } });
    return data.upsertMember.member.id;
  }

  /** The member buys 100 can for 11,000 won; the charge's id. */
  async buy(memberId: string): Promise<string> {
    const request = await this.gql<{ requestCharge: { charge: { id: string; orderId: string } } }>(
      "mutation ($input: RequestChargeInput!) { requestCharge(input: $input) { charge { id orderId } userErrors { code } } }",
      { input: { idempotencyKey: randomBytes(8).toString("hex"), memberId, sku: "coin_100", paymentGateway: "PG" } },
    );
    const { id, orderId } = request.requestCharge.charge;
    const { transactionId } = await this.#control("purchases", { gateway: "bootpay", orderId, amount: 11_000 });
    await this.gql("mutation ($input: VerifyChargeInput!) { verify(input: $input) { userErrors { code } } }", {
      input: { orderId, transactionId },
    });
    return id;
  }

  /** Binds a queue, so that events find somebody who wants them; ends with the connection. */
  async listen(...keys: string[]) {
    const { queue } = await this.#channel.assertQueue("", { exclusive: true });
    for (const key of keys) await this.#channel.bindQueue(queue, `${this.prefix}payment.events`, key);
    return {
      end: async () => {
        await this.#channel.deleteQueue(queue);
      },
    };
  }

  /** Sends a message of the meeting service. */
  send(routingKey: string, body: string) {
    this.#channel.publish(`${this.prefix}meeting.events`, routingKey, Buffer.from(body), {
      contentType: "application/json",
    });
  }

  /** Failures as another program writes them, by SQL. */
  async fail(count: number, code = "DISK_FULL") {
    await this.db.query(
      `INSERT INTO failure (kind, severity, subject_type, subject_id, code, message, fingerprint, attempt)
       SELECT 'WORKER_CRASHED', 'WARNING', 'WORKER', 'nightly-import', $2, 'no space left ' || n, 'nightly-import', 1 FROM generate_series(1, $1::int) n`,
      [count, code],
    );
  }

  /** Waits until what other tests began has come to its end, so that the next failure is the test's own. */
  async settled() {
    const left = () =>
      this.value<number>(
        `SELECT (SELECT count(*) FROM payment_outbox WHERE status NOT IN ('PUBLISHED', 'DEAD_LETTERED'))
              + (SELECT count(*) FROM failure WHERE position IS NULL) AS n`,
      );
    await eventually("every event has been sent or given up", async () => Number(await left()) === 0, 30);
  }

  async value<T>(sql: string, values: unknown[] = []): Promise<T> {
    const { rows } = await this.db.query({ text: sql, values, rowMode: "array" });
    return rows[0]?.[0] as T;
  }
}
