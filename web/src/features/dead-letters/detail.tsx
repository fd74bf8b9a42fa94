import { Detail, Facts, Failures, Panel } from "@/features/detail/parts";
import { operate, outcome, usePolledRow } from "@/features/detail/useLiveRow";
import {
  type DeadLetterDetailFragment,
  DeadLetterDocument,
  DiscardInboundDeadLetterDocument,
  ReplayInboundDeadLetterDocument,
} from "@/gql/graphql";
import { useT } from "@/i18n";
import type { Dictionary } from "@/i18n/en";
import { gql } from "@/lib/gql";
import { count } from "@/lib/money";
import { useSettings } from "@/lib/settings";
import { type Act, Actions } from "@/ui/Actions";
import { CopyId } from "@/ui/CopyId";
import { JsonView } from "@/ui/JsonView";
import { Time } from "@/ui/Time";
import { type Moment, Timeline } from "@/ui/Timeline";
import { Waiting } from "@/ui/Waiting";

const load = async (id: string, signal: AbortSignal) =>
  (await gql(DeadLetterDocument, { id }, signal)).inboundDeadLetter;

function moments(letter: DeadLetterDetailFragment, t: Dictionary): Moment[] {
  return [
    { at: letter.receivedAt, title: t.status.OPEN ?? "", status: "OPEN", of: "deadLetter" },
    ...letter.failures.map(
      (failure): Moment => ({
        at: failure.occurredAt,
        title: t.kind[failure.kind] ?? failure.kind,
        detail: failure.message,
        status: failure.severity,
        of: "failure",
      }),
    ),
    ...(letter.status === "OPEN"
      ? []
      : [
          {
            at: letter.updatedAt,
            title: t.status[letter.status] ?? letter.status,
            status: letter.status,
            of: "deadLetter",
          } satisfies Moment,
        ]),
  ];
}

function acts(letter: DeadLetterDetailFragment): Act[] {
  return letter.availableActions.map((action) => {
    const isDiscard = action.action === "discardInboundDeadLetter";
    return {
      action,
      danger: isDiscard,
      run: async (reason) => {
        const result = await operate(
          isDiscard ? DiscardInboundDeadLetterDocument : ReplayInboundDeadLetterDocument,
          letter.id,
          reason,
        );
        return outcome(result, result.inboundDeadLetter);
      },
    };
  });
}

function bytes(base64: string): number {
  return Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
}

export function DeadLetterPage({ id }: { id: string }) {
  const t = useT();
  const { locale } = useSettings();
  const query = usePolledRow("deadLetters", id, load);
  return (
    <Detail
      query={query}
      id={id}
      list={{ path: "/dead-letters", title: t.nav.deadLetters }}
      thing={t.thing.deadLetter}
      of="deadLetter"
    >
      {(letter) => ({
        main: (
          <>
            <Panel
              title={t.field.body}
              note={letter.bodyText === null ? t.detail.bytes(count(bytes(letter.bodyBase64), locale)) : undefined}
            >
              <JsonView text={letter.bodyText ?? letter.bodyBase64} what={t.field.body} />
            </Panel>
            <Panel title={t.detail.timeline}>
              <Timeline moments={moments(letter, t)} />
            </Panel>
            <Panel title={t.field.headers}>
              <JsonView text={JSON.stringify(letter.headers)} what={t.field.headers} />
            </Panel>
            <Panel title={t.detail.failures}>
              <Failures failures={letter.failures} />
            </Panel>
          </>
        ),
        side: (
          <>
            <Panel title={t.detail.now}>
              <Waiting
                wait={
                  letter.status === "OPEN"
                    ? { reason: "NEEDS_OPERATOR", since: letter.receivedAt, until: null, detail: letter.error }
                    : null
                }
              />
            </Panel>
            <Panel title={t.detail.actions}>
              <Actions acts={acts(letter)} what={`${t.thing.deadLetter} ${id}`} status={letter.status} />
            </Panel>
            <Panel title={t.detail.facts}>
              <Facts
                facts={[
                  [
                    t.field.queue,
                    <span key="queue" className="mono">
                      {letter.queue}
                    </span>,
                  ],
                  [t.field.errorClass, t.status[letter.errorClass] ?? letter.errorClass],
                  [
                    t.field.errorCode,
                    <span key="code" className="mono">
                      {letter.errorCode}
                    </span>,
                  ],
                  [t.field.error, letter.error],
                  [t.field.receivedAt, <Time key="received" at={letter.receivedAt} />],
                  [t.field.updatedAt, <Time key="updated" at={letter.updatedAt} />],
                  [
                    t.field.eventId,
                    letter.eventId && <CopyId key="event" id={letter.eventId} what={t.field.eventId} />,
                  ],
                  [t.field.flowId, letter.flowId && <CopyId key="flow" id={letter.flowId} what={t.field.flowId} />],
                ]}
              />
            </Panel>
          </>
        ),
      })}
    </Detail>
  );
}
