import { defined } from '../../../base/runtime/index.js'
import { TOKEN } from '../../kit/fake-ironic.js'
import type { Asked } from './side-by-side.js'

/** One request to both agents. `{last}` in its path is the id of the command that was accepted last. */
export interface Row extends Asked {
  readonly what: string
  /** Where both answer differently; without, nowhere. */
  readonly differs?: Difference
}

/** An intended difference, and the row of the document that explains it. */
export interface Difference {
  /** Beginning of the row of docs/fidelity/, which says what upstream does. */
  readonly row: string
  /** Each place that differs, with what the real agent says there and what ours says. */
  readonly at: Readonly<Record<string, readonly [real: unknown, ours: unknown]>>
}

export const withToken = (path: string): string => `${path}${path.includes('?') ? '&' : '?'}agent_token=${TOKEN}`

/** A request for what needs no token, or without one for what does. */
export const asks = (method: string, path: string, more: Partial<Row> = {}): Row => ({
  what: `${method} ${path}`,
  method,
  path,
  ...more,
})

export const asksWithToken = (method: string, path: string, more: Partial<Row> = {}): Row => ({
  ...asks(method, path, more),
  path: withToken(path),
})

/** A body that may ask for a command or not. */
export const sends = (what: string, body: unknown, more: Partial<Row> = {}): Row => ({
  what,
  method: 'POST',
  path: withToken('/v1/commands/'),
  body,
  ...more,
})

/** A command, and how it ended. */
export const runs = (name: string, params: unknown, differs?: Difference): Row =>
  sends(
    `${name} ${JSON.stringify(params)}`,
    { name, params },
    { path: withToken('/v1/commands/?wait=true'), ...defined({ differs }) },
  )

const client = (faultstring: unknown) => ({ faultcode: 'Client', faultstring })
const server = (faultstring: unknown) => ({ faultcode: 'Server', faultstring })

/** IPA's 500, with Python's complaint, is our 400. */
export const trips = (row: string, complaint: string, refusal: unknown): Difference => ({
  row,
  at: {
    status: [500, 400],
    'body.faultcode': ['Server', 'Client'],
    'body.faultstring': [complaint, refusal],
  },
})

/** Only the words of a refusal differ. */
export const saysOf = (row: string, real: unknown, ours: unknown): Difference => ({
  row,
  at: { 'body.faultstring': [real, ours] },
})

/** Python's words for parameters and arguments that do not fit. */
export const inOurWords = (real: unknown, ours: unknown): Difference => ({
  row: 'Parameters of asynchronous commands, and arguments of steps, that do not fit',
  at: { 'body.command_error.details': [real, ours] },
})

/** The synchronous failure that IPA cannot serialise. */
export const poisons = (name: string, ours: unknown): Difference => ({
  row: 'A synchronous command with wrong parameters answers 500',
  at: {
    status: [500, 200],
    body: [
      server('Object of type TypeError is not JSON serializable'),
      {
        id: '<id>',
        command_name: name,
        command_status: 'FAILED',
        command_result: null,
        command_error: {
          type: 'CommandExecutionError',
          code: 500,
          message: 'Command execution failed',
          details: ours,
        },
      },
    ],
  },
})

export { client, server }
