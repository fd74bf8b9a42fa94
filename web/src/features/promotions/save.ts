import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { flushSync } from "react-dom";
import {
  type ChargeEventInput,
  CreatePromotionDocument,
  type PromotionRowFragment,
  PromotionsDocument,
  UpdatePromotionDocument,
} from "@/gql/graphql";
import { useT } from "@/i18n";
import { gql, isAnswered } from "@/lib/gql";
import { useOnce } from "@/lib/once";
import { tell } from "@/ui/Notices";
import { isLike } from "./draft";

/** How many of the newest are looked through for one that was made without our knowing. */
const LOOKED_THROUGH = 50;

interface Sent {
  input: ChargeEventInput;
  reason: string;
  /** Makes it although there is one like it. */
  isWanted?: boolean;
}

/**
 * Saves a promotion once. Making one is not idempotent: after an answer that never came, the newest ones are looked
 * through before another is made.
 */
export function useSave(base: PromotionRowFragment | undefined, saved: (promotion: PromotionRowFragment) => void) {
  const t = useT();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const once = useOnce();
  /** What was sent without an answer. */
  const [unanswered, setUnanswered] = useState<ChargeEventInput[]>([]);
  const [isSaved, setSaved] = useState(false);
  const mutation = useMutation({
    mutationFn: async ({ input, reason, isWanted }: Sent) => {
      if (base) {
        const seen = { id: base.id, input, reason, expectedUpdatedAt: base.updatedAt };
        return { ...(await gql(UpdatePromotionDocument, seen)).result, made: undefined };
      }
      if (unanswered.length > 0 && !isWanted) {
        const { page } = await gql(PromotionsDocument, { first: LOOKED_THROUGH });
        const made = page.nodes.find((one) => unanswered.some((sent) => isLike(one, sent)));
        if (made) return { chargeEvent: undefined, userErrors: [], made };
      }
      try {
        return { ...(await gql(CreatePromotionDocument, { input, reason })).result, made: undefined };
      } catch (error) {
        if (!isAnswered(error)) setUnanswered((sent) => [...sent, input]);
        throw error;
      }
    },
    onSuccess: async ({ chargeEvent, userErrors }) => {
      await queries.invalidateQueries({ queryKey: ["promotions"] });
      if (userErrors.length > 0 || !chargeEvent) return;
      setUnanswered([]);
      tell(t.charge.saved);
      saved(chargeEvent);
      if (!base) {
        flushSync(() => setSaved(true));
        await navigate({ to: "/promotions/$id", params: { id: chargeEvent.id }, ignoreBlocker: true });
      }
    },
  });
  return {
    save: (sent: Sent) => once(() => mutation.mutateAsync(sent)),
    isPending: mutation.isPending,
    /** Whether a new one is made, and the form done with. */
    isSaved,
    error: mutation.error,
    isUnknown: unanswered.length > 0 && mutation.error !== null && !isAnswered(mutation.error),
    refused: mutation.data?.userErrors[0],
    /** The one that was made by what was sent before. */
    made: mutation.data?.made,
  };
}
