import {
  ArrowRightLeft,
  Coins,
  CreditCard,
  Gauge,
  Gift,
  type LucideIcon,
  MailWarning,
  Megaphone,
  Settings,
  Tags,
  Undo2,
  Users,
} from "lucide-react";
import type { Dictionary } from "@/i18n/en";

export interface Place {
  to:
    | "/"
    | "/payments"
    | "/refunds"
    | "/outbox"
    | "/dead-letters"
    | "/charges"
    | "/charge-jobs"
    | "/promotions"
    | "/products"
    | "/members"
    | "/settings";
  name: keyof Dictionary["nav"];
  icon: LucideIcon;
  /** Pressed after `g`. */
  letter: string;
}

/** Where one can go. */
export const PLACES: Place[] = [
  { to: "/", name: "overview", icon: Gauge, letter: "o" },
  { to: "/payments", name: "payments", icon: CreditCard, letter: "p" },
  { to: "/refunds", name: "refunds", icon: Undo2, letter: "r" },
  { to: "/outbox", name: "outbox", icon: ArrowRightLeft, letter: "e" },
  { to: "/dead-letters", name: "deadLetters", icon: MailWarning, letter: "d" },
  { to: "/charges", name: "charges", icon: Coins, letter: "c" },
  { to: "/charge-jobs", name: "chargeJobs", icon: Gift, letter: "b" },
  { to: "/promotions", name: "promotions", icon: Megaphone, letter: "m" },
  { to: "/products", name: "products", icon: Tags, letter: "l" },
  { to: "/members", name: "members", icon: Users, letter: "u" },
  { to: "/settings", name: "settings", icon: Settings, letter: "s" },
];
