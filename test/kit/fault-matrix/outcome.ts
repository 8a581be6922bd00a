import type { ApiNode, JsonObject } from '../../../base/wire/index.js'
import { MATRIX_FLOWS, type MatrixNode } from './flows.js'
import type { MatrixCell } from './cells.js'

/** State of a node at the end of a cell. Texts are whole, with what differs from run to run replaced. */
export interface CellOutcome {
  /** Status of the answer to the request that began the flow; its text where it was refused. */
  readonly answer: number | string
  readonly provision_state: string
  readonly target_provision_state: string | null
  readonly power_state: string | null
  readonly maintenance: boolean
  readonly fault: string | null
  readonly last_error: string | null
  /** The last error in its history: Ironic clears `last_error` when it then switches the power off. */
  readonly failure: string | null
  /** Whether the fault has struck at all. */
  readonly struck: boolean
}

/** Faults of the machine of a cell. */
interface CellFault {
  /** Adds the fault of the cell. */
  add(): void
  struck(): boolean
}

/** Plays a cell on a node that was just enrolled. */
export async function playCell({ flow }: MatrixCell, node: MatrixNode, fault: CellFault): Promise<CellOutcome> {
  const { prepare, begin } = MATRIX_FLOWS[flow]
  await prepare(node)
  fault.add()
  const { status, body } = await begin(node)
  const rested = await node.rested()
  const history = await node.send('GET', '/history?detail=true')
  const { uuid } = node
  const text = (sentence: string | null): string | null => (sentence === null ? null : plainText(sentence, uuid))
  return {
    answer: status === 202 ? status : `${status} ${plainText(faultString(body), uuid)}`,
    provision_state: rested.provision_state,
    target_provision_state: rested.target_provision_state,
    power_state: rested.power_state,
    maintenance: rested.maintenance,
    fault: (rested as ApiNode & { fault: string | null }).fault,
    last_error: text(rested.last_error),
    failure: text(lastFailure(history.body)),
    struck: fault.struck(),
  }
}

function faultString(body: unknown): string {
  const { error_message: text = '' } = (body ?? {}) as { error_message?: string }
  return (JSON.parse(text || '{}') as { faultstring?: string }).faultstring ?? text
}

function lastFailure(body: unknown): string | null {
  const { history } = body as { history: (JsonObject & { event: string; severity: string; created_at: string })[] }
  return history.filter(({ severity }) => severity === 'ERROR').at(-1)?.event ?? null
}

/** A sentence of Ironic without what differs from run to run: ids, addresses, tokens, times. */
export const plainText = (sentence: string, uuid: string): string =>
  sentence
    .replaceAll(uuid, 'NODE')
    .replace(/Request body: ".*$/s, 'Request body and answer')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replace(/0x[0-9a-f]{6,}/g, 'ADDRESS')
    .replace(/agent_token=[\w-]+/g, 'agent_token=TOKEN')
    .replace(/(host=)?'?\b127\.0\.0\.1'?(:|, port=)\d+/g, 'HOST')
    .replace(/http:\/\/198\.19\.\d+\.\d+/g, 'http://HOST')
    .replace(/machine-\d+/g, 'MACHINE')
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?/g, 'TIME')
