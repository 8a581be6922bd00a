import { defined } from '../../../base/runtime/index.js'
/** Messages of DMTF's registry `Base` that this service sends: severity, and a sentence with `%1` for each argument. */
const BASE_MESSAGES = {
  Success: ['OK', 'The request was carried out.'],
  GeneralError: ['Critical', 'The request failed; the extended information says why.'],
  Created: ['OK', 'The resource was created.'],
  NoOperation: ['Warning', 'The request names nothing that would change the resource.'],
  PropertyUnknown: ['Warning', 'The resource has no property %1.'],
  PropertyValueTypeError: ['Warning', 'The value %1 of the property %2 has the wrong type.'],
  PropertyValueFormatError: ['Warning', 'The value %1 of the property %2 has the wrong format.'],
  PropertyValueNotInList: ['Warning', 'The value %1 of the property %2 is none of the allowed ones.'],
  PropertyValueOutOfRange: ['Warning', 'The value %1 of the property %2 is out of range.'],
  PropertyValueError: ['Warning', 'The value of the property %1 cannot be used.'],
  PropertyValueConflict: ['Warning', 'The property %1 does not go with the value of the property %2.'],
  PropertyNotWritable: ['Warning', 'The property %1 is read-only.'],
  PropertyMissing: ['Warning', 'The property %1 is required and missing.'],
  MalformedJSON: ['Critical', 'The request body is not a JSON document.'],
  UnrecognizedRequestBody: ['Warning', 'The request body is not a JSON object.'],
  ActionParameterMissing: ['Critical', 'The action %1 requires the parameter %2.'],
  ActionParameterUnknown: ['Warning', 'The action %1 has no parameter %2.'],
  ActionParameterValueTypeError: ['Warning', 'The value %1 of the parameter %2 of the action %3 has the wrong type.'],
  ActionParameterValueFormatError: [
    'Warning',
    'The value %1 of the parameter %2 of the action %3 has the wrong format.',
  ],
  ActionParameterValueNotInList: [
    'Warning',
    'The value %1 of the parameter %2 of the action %3 is none of the allowed ones.',
  ],
  ActionParameterValueOutOfRange: ['Warning', 'The value %1 of the parameter %2 of the action %3 is out of range.'],
  ActionParameterValueError: ['Warning', 'The value of the parameter %1 of the action %2 cannot be used.'],
  ActionParameterValueConflict: ['Warning', 'The parameter %1 does not go with the value %2.'],
  QueryParameterValueTypeError: ['Warning', 'The value %1 of the query parameter %2 has the wrong type.'],
  QueryParameterValueFormatError: ['Warning', 'The value %1 of the query parameter %2 has the wrong format.'],
  QueryParameterOutOfRange: ['Warning', 'The value %1 of the query parameter %2 is out of the range %3.'],
  QueryParameterUnsupported: ['Warning', 'The query parameter %1 is not supported.'],
  QueryNotSupportedOnResource: ['Warning', 'The resource does not support this query.'],
  QueryNotSupportedOnOperation: ['Warning', 'Query parameters go with GET only.'],
  SessionLimitExceeded: ['Critical', 'As many sessions are open as the service allows.'],
  EventSubscriptionLimitExceeded: ['Critical', 'There are as many event subscriptions as the service allows.'],
  ResourceCannotBeDeleted: ['Critical', 'The resource cannot be deleted.'],
  ResourceInUse: ['Warning', 'The resource is in use.'],
  ResourceExhaustion: ['Critical', 'The resource %1 is exhausted.'],
  ResourceNotFound: ['Critical', 'There is no resource of type %1 named %2.'],
  ResourceMissingAtURI: ['Critical', 'There is no resource at %1.'],
  ActionNotSupported: ['Critical', 'The resource has no action %1.'],
  NoValidSession: ['Critical', 'The request has no valid credentials.'],
  InsufficientPrivilege: ['Critical', 'The account may not do this.'],
  ResourceAtUriUnauthorized: ['Critical', 'The resource at %1 cannot be reached with these credentials: %2.'],
  ServiceTemporarilyUnavailable: ['Critical', 'The service is busy. Try again in %1 seconds.'],
  InternalError: ['Critical', 'The service failed.'],
  OperationNotAllowed: ['Critical', 'The resource does not allow this method.'],
  OperationFailed: ['Warning', 'A part of the operation failed.'],
  HeaderInvalid: ['Critical', 'The header %1 cannot be used.'],
  PreconditionFailed: ['Critical', 'The ETag is not the one of the resource as it is now.'],
  PreconditionRequired: ['Critical', 'The request needs an If-Match header with the ETag of the resource.'],
  ChassisPowerStateOnRequired: ['Warning', 'The machine %1 must be on for this.'],
  PasswordIncorrectLength: ['Critical', 'The password is too short or too long.'],
} as const satisfies Record<string, readonly ['OK' | 'Warning' | 'Critical', string]>

export type BaseMessage = keyof typeof BASE_MESSAGES

/** The version of the registry whose messages these are. */
export const BASE_VERSION = '1.22'

/** An entry of `@Message.ExtendedInfo`. */
export interface RedfishMessage {
  '@odata.type': string
  MessageId: string
  Message: string
  MessageArgs: string[]
  MessageSeverity: 'OK' | 'Warning' | 'Critical'
  Severity: 'OK' | 'Warning' | 'Critical'
  Resolution: string
  /** JSON pointers, as in `#/Boot/BootSourceOverrideTarget`. */
  RelatedProperties?: string[]
}

/**
 * A message of the registry `Base`.
 *
 * @param property path of the property that it is about: `Boot/BootOrder`
 * @param resolution the remedy
 */
export function baseMessage(
  key: BaseMessage,
  args: readonly string[] = [],
  { property, resolution = 'None.' }: { property?: string; resolution?: string } = {},
): RedfishMessage {
  const [severity, sentence] = BASE_MESSAGES[key]
  return {
    '@odata.type': '#Message.v1_1_2.Message',
    MessageId: `Base.${BASE_VERSION}.${key}`,
    Message: sentence.replace(/%(\d)/g, (_, place: string) => args[Number(place) - 1] ?? ''),
    MessageArgs: [...args],
    MessageSeverity: severity,
    Severity: severity,
    Resolution: resolution,
    ...defined({ RelatedProperties: property === undefined ? undefined : [`#/${property}`] }),
  }
}

/** The messages as `Messages` of a message registry. */
export const baseMessages = (): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(BASE_MESSAGES).map(([key, [severity, sentence]]) => {
      const places = new Set(sentence.match(/%\d/g))
      const one = { Description: sentence, Message: sentence, Severity: severity, MessageSeverity: severity }
      const params = { NumberOfArgs: places.size, ParamTypes: [...places].map(() => 'string') }
      return [key, { ...one, ...params, Resolution: 'See the message.' }]
    }),
  )
