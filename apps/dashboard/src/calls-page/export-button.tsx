import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import type { CallFilterInput } from '#contracts';
import { notifyError } from '../components/notify.js';
import { saveFile } from '../components/save-file.js';
import { useToolyard } from '../stream/toolyard.js';

/** Saves all events of the calls of a filter, one JSON text a line. The browser keeps them until they are complete. */
export function ExportButton({ filter }: { readonly filter: CallFilterInput }) {
  const { client } = useToolyard();
  const load = useMutation({
    mutationFn: async () => new Response(await client.calls.export(filter)).blob(),
    onSuccess: (events) => saveFile(events, 'calls.jsonl', 'application/jsonl'),
    onError: (error) => notifyError('The export is not complete', error),
  });
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<IconDownload size={15} aria-hidden />}
      loading={load.isPending}
      onClick={() => load.mutate()}
    >
      Export
    </Button>
  );
}
