import { baseMessage, type BaseMessage, type RedfishMessage } from './redfish-messages.js'

/** A request that is refused: status, headers and the messages of its body. */
export class Refusal extends Error {
  override name = 'Refusal'

  constructor(
    readonly status: number,
    readonly messages: readonly RedfishMessage[],
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(messages.map(({ Message: sentence }) => sentence).join(' '))
  }
}

/** A refusal with one message. */
export const messageRefusal = (
  status: number,
  key: BaseMessage,
  args: readonly string[] = [],
  about: { property?: string; resolution?: string; headers?: Readonly<Record<string, string>> } = {},
): Refusal => new Refusal(status, [baseMessage(key, args, about)], about.headers)

/** Body of an error. */
interface ErrorBody extends Record<string, unknown> {
  error: { code: string; message: string; '@Message.ExtendedInfo': readonly RedfishMessage[] }
}

/** The error body of messages: the first one's, or a general error with all of them. */
export function errorBody(messages: readonly RedfishMessage[]): ErrorBody {
  const [first] = messages
  const general = baseMessage('GeneralError')
  const { MessageId: code, Message: sentence } = messages.length === 1 ? first! : general
  return { error: { code, message: sentence, '@Message.ExtendedInfo': messages } }
}
