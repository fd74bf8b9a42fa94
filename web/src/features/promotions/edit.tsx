import { Detail, Facts, Panel } from "@/features/detail/parts";
import { usePolledRow } from "@/features/detail/useLiveRow";
import { PromotionDocument } from "@/gql/graphql";
import { useT } from "@/i18n";
import { gql } from "@/lib/gql";
import { PageTitle } from "@/ui/PageTitle";
import { Time } from "@/ui/Time";
import { PromotionForm } from "./Form";
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
            <PromotionForm key={promotion.id} promotion={promotion} />
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
