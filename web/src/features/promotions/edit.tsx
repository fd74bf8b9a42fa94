import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, type InputHTMLAttributes, useId, useState } from "react";
import { Detail, Facts, Panel } from "@/features/detail/parts";
import { usePolledRow } from "@/features/detail/useLiveRow";
import {
  type ChargeEventInput,
  CreatePromotionDocument,
  PromotionDocument,
  type PromotionRowFragment,
  UpdatePromotionDocument,
} from "@/gql/graphql";
import { useT } from "@/i18n";
import { gql } from "@/lib/gql";
import { session } from "@/lib/session";
import { useStore } from "@/lib/store";
import { fromLocalInput, toLocalInput, zoneName } from "@/lib/time";
import { ErrorText } from "@/ui/Messages";
import { tell } from "@/ui/Notices";
import { PageTitle } from "@/ui/PageTitle";
import { Time } from "@/ui/Time";
import { useZone } from "@/ui/zone";
import { stateOf } from "./list";

const load = async (id: string, signal: AbortSignal) => (await gql(PromotionDocument, { id }, signal)).chargeEvent;

export function PromotionPage({ id }: { id: string }) {
  const t = useT();
  const query = usePolledRow("promotions", id, load);
  return (
    <Detail
      query={query}
      id={id}
      list={{ path: "/promotions", title: t.nav.promotions }}
      thing={t.thing.promotion}
      of="promotion"
      state={stateOf}
    >
      {(promotion) => ({
        main: (
          <Panel title={t.charge.edit}>
            {/* Made anew when somebody else has changed it. */}
            <PromotionForm key={promotion.updatedAt} promotion={promotion} />
          </Panel>
        ),
        side: (
          <Panel title={t.detail.facts}>
            <Facts
              facts={[
                [t.field.createdAt, <Time key="created" at={promotion.createdAt} />],
                [t.field.updatedAt, <Time key="updated" at={promotion.updatedAt} />],
              ]}
            />
          </Panel>
        ),
      })}
    </Detail>
  );
}

export function NewPromotionPage() {
  const t = useT();
  return (
    <>
      <PageTitle title={t.charge.create} />
      <div className="min-h-0 flex-1 overflow-auto bg-ground-2 p-3">
        <div className="max-w-3xl">
          <Panel title={t.charge.create}>
            <PromotionForm />
          </Panel>
        </div>
      </div>
    </>
  );
}

type Values = Record<"title" | "startAt" | "endAt" | "addPercent" | "availableCount", string>;

function PromotionForm({ promotion }: { promotion?: PromotionRowFragment }) {
  const t = useT();
  const zone = useZone();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const known = useStore(session);
  const isAdmin = known?.viewer?.roles.includes("ADMIN") ?? false;
  const [isActive, setActive] = useState(promotion?.isActive ?? true);
  const [values, setValues] = useState<Values>({
    title: promotion?.title ?? "",
    startAt: toLocalInput(promotion?.startAt, zone),
    endAt: toLocalInput(promotion?.endAt, zone),
    addPercent: promotion ? String(promotion.addPercent) : "",
    availableCount: String(promotion?.availableCount ?? 0),
  });
  const save = useMutation({
    mutationFn: async () => {
      const input: ChargeEventInput = {
        title: values.title.trim(),
        startAt: fromLocalInput(values.startAt, zone) ?? "",
        endAt: fromLocalInput(values.endAt, zone) ?? "",
        addPercent: Number.parseInt(values.addPercent, 10),
        availableCount: Number.parseInt(values.availableCount, 10),
        isActive,
      };
      return promotion
        ? (await gql(UpdatePromotionDocument, { id: promotion.id, input })).result
        : (await gql(CreatePromotionDocument, { input })).result;
    },
    onSuccess: ({ chargeEvent, userErrors }) => {
      if (userErrors.length > 0 || !chargeEvent) return;
      void queries.invalidateQueries({ queryKey: ["promotions"] });
      tell(t.charge.saved);
      if (!promotion) void navigate({ to: "/promotions/$id", params: { id: chargeEvent.id } });
    },
  });
  const refused = save.data?.userErrors[0];
  const wrong = refused?.field?.at(-1);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isAdmin && !save.isPending) save.mutate();
  };
  const field = (name: keyof Values, attributes: InputHTMLAttributes<HTMLInputElement>) => (
    <Field
      label={t.field[name]}
      isWrong={wrong === name}
      {...attributes}
      value={values[name]}
      onChange={(event) => setValues({ ...values, [name]: event.target.value })}
    />
  );
  return (
    <form onSubmit={submit}>
      <fieldset disabled={!isAdmin} className="space-y-3 p-3">
        {field("title", { required: true, maxLength: 100, className: "w-full" })}
        <div className="flex flex-wrap gap-4">
          {field("startAt", { type: "datetime-local", required: true })}
          {field("endAt", { type: "datetime-local", required: true })}
          <span className="self-end pb-1 text-xs text-ink-2">{t.charge.zone(zoneName(zone))}</span>
        </div>
        <div className="flex flex-wrap gap-4">
          {field("addPercent", { type: "number", min: 1, max: 1000, step: 1, required: true, className: "w-28" })}
          {field("availableCount", { type: "number", min: 0, step: 1, required: true, className: "w-28" })}
          <span className="self-end pb-1 text-xs text-ink-2">{`0: ${t.charge.unlimited}`}</span>
        </div>
        <label className="flex items-center gap-2">
          <input type="checkbox" checked={isActive} onChange={(event) => setActive(event.target.checked)} />
          {t.field.isActive}
        </label>
      </fieldset>
      {refused || save.error ? (
        <div role="alert" className="mx-3 mb-3 rounded-md bg-bad-ground p-2 text-bad">
          {refused ? (
            <>
              {t.confirm.codes[refused.code] ?? t.confirm.refused} <span className="text-ink">{refused.message}</span>{" "}
              <span className="mono">{refused.code}</span>
            </>
          ) : (
            <ErrorText error={save.error} />
          )}
        </div>
      ) : null}
      <div className="flex items-center gap-3 border-t border-line bg-ground-2 p-3">
        <button type="submit" className="button" data-kind="primary" aria-disabled={!isAdmin || save.isPending}>
          {save.isPending ? t.confirm.working : t.charge.save}
        </button>
        <span className="text-xs text-ink-2">{isAdmin ? t.charge.hint : t.charge.onlyAdmin}</span>
        <span className="ml-auto">
          {t.confirm.environment} <strong>{known?.environment}</strong>
        </span>
      </div>
    </form>
  );
}

function Field({
  label,
  isWrong,
  className,
  ...input
}: InputHTMLAttributes<HTMLInputElement> & { label: string; isWrong: boolean }) {
  const id = useId();
  return (
    <div className={className?.includes("w-full") ? "" : "inline-block"}>
      <label htmlFor={id} className="block font-medium">
        {label}
      </label>
      <input id={id} className={`field mt-1 ${className ?? ""}`} aria-invalid={isWrong} {...input} />
    </div>
  );
}
