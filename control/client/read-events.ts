/** An event of a stream (text/event-stream, as WHATWG HTML describes it). */
interface ServerEvent {
  event: string
  data: string
}

/** The events of a body as they come; leaving the loop cancels the body. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void> {
  const decoder = new TextDecoder()
  let text = ''
  // Some browsers have no async iterator of streams.
  const reader = body.getReader()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += decoder.decode(part.value, { stream: true })
      const blocks = text.split(/\r?\n\r?\n/)
      text = blocks.pop()!
      for (const block of blocks) {
        const event = eventIn(block)
        if (event) yield event
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** Comments and blocks without data are no events. */
function eventIn(block: string): ServerEvent | undefined {
  const data: string[] = []
  let event = 'message'
  for (const line of block.split(/\r?\n/)) {
    const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line)!
    if (name === 'data') data.push(value!)
    else if (name === 'event') event = value!
  }
  return data.length > 0 ? { event, data: data.join('\n') } : undefined
}
