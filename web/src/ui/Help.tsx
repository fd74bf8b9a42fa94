import { Dialog } from "@base-ui/react/dialog";
import { useT } from "@/i18n";
import { Shortcuts } from "./Shortcuts";

/** The keys, in a dialog. */
export default function Help({ close }: { close: () => void }) {
  const t = useT();
  return (
    <Dialog.Root open onOpenChange={(isOpen) => isOpen || close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Popup className="popup fixed top-1/2 left-1/2 z-40 max-h-[calc(100dvh-16px)] w-[380px] max-w-[calc(100vw-32px)] overflow-y-auto -translate-x-1/2 -translate-y-1/2 space-y-3 p-4">
          <Dialog.Title className="text-lg">{t.keys.title}</Dialog.Title>
          <Shortcuts />
          <Dialog.Description className="text-xs text-ink-2">{t.keys.zoneNote}</Dialog.Description>
          <Dialog.Close className="button">{t.keys.close}</Dialog.Close>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
