/** Calls `event` with each event of a text/event-stream body until it returns true or the body ends. */
export async function events(
  body: ReadableStream<Uint8Array>, alive: () => void, event: (name: string, data: string) => boolean,
): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      alive();
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\n\n|\r\n\r\n/);
      rest = lines.pop() ?? "";
      if (lines.some((block) => dispatch(block, event))) return;
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

function dispatch(block: string, event: (name: string, data: string) => boolean): boolean {
  let name = "message";
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, field, value = ""] = /^(\w+)(?:: ?(.*))?$/.exec(line) ?? [];
    if (field === "event") name = value;
    if (field === "data") data.push(value);
  }
  return data.length > 0 && event(name, data.join("\n"));
}
