import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { defined } from '../../../base/runtime/index.js'

/** Habits of real BMCs. */
export interface Habits {
  /** Answers of sessions: none offered, or none left. */
  sessions?: 'none' | 'full'
  /** The session ends after so many requests. */
  sessionRequests?: number
  /** So many answers are 503 first. */
  busy?: number
  /** A PATCH needs an ETag; or a weak one is refused; or any is. */
  etag?: 'required' | 'no weak ones' | 'none taken'
  /** InsertMedia by PATCH only. */
  media?: 'no actions' | 'strict properties'
  /** Something is in the drive; it must be ejected first. */
  inserted?: string
  /** Resets answer with a task. */
  tasks?: boolean
  /** A link to another host in answers. */
  foreignLocation?: boolean
  /** SerialConsole of the system. */
  serialConsole?: object
  tls?: { key: string; cert: string }
}

/** A BMC of a machine, with habits. */
export class StrangeBmc implements AsyncDisposable {
  readonly calls: string[] = []
  readonly openSessions = new Set<string>()
  power = 'On'
  image: string | null
  boot: Record<string, unknown> = { BootSourceOverrideMode: 'UEFI' }
  basic = 0
  #version = 1
  #busy: number
  #polls = 0
  #sessionUses = 0
  readonly #server: Server

  private constructor(private readonly habits: Habits) {
    this.image = habits.inserted ?? null
    this.#busy = habits.busy ?? 0
    const listener = (request: IncomingMessage, response: ServerResponse) => void this.#answer(request, response)
    this.#server = habits.tls ? createTlsServer(habits.tls, listener) : createServer(listener)
  }

  static async open(habits: Habits = {}): Promise<StrangeBmc> {
    const bmc = new StrangeBmc(habits)
    await new Promise<void>((resolve) => bmc.#server.listen(0, '127.0.0.1', resolve))
    return bmc
  }

  get url(): string {
    return `http${this.habits.tls ? 's' : ''}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const bytes of request) parts.push(bytes as Buffer)
    const body = (parts.length === 0 ? {} : JSON.parse(Buffer.concat(parts).toString())) as Record<string, unknown>
    const { method = '', url = '', headers } = request
    this.calls.push(`${method} ${url}`)
    const say = (status: number, document: object = {}, more: Record<string, string> = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...more })
      response.end(JSON.stringify(document))
    }
    const refuse = (status: number, Message: string) =>
      say(status, { error: { '@Message.ExtendedInfo': [{ Message }] } })
    const { habits } = this
    if (this.#busy > 0) {
      this.#busy--
      return say(503, {}, { 'retry-after': '0' })
    }
    if (url === '/redfish/v1/SessionService/Sessions') {
      if (habits.sessions === 'none') return refuse(404, 'no such resource')
      if (habits.sessions === 'full') return refuse(400, 'The maximum number of sessions is open.')
      const token = `token-${this.openSessions.size + 1}-${this.calls.length}`
      this.openSessions.add(token)
      this.#sessionUses = 0
      return say(201, {}, { 'x-auth-token': token, location: `/redfish/v1/SessionService/Sessions/${token}` })
    }
    const token = headers['x-auth-token'] as string | undefined
    if (headers.authorization === `Basic ${Buffer.from('admin:s3cret').toString('base64')}`) this.basic++
    else if (token === undefined || !this.openSessions.has(token)) return refuse(401, 'no session')
    else if (++this.#sessionUses > (habits.sessionRequests ?? Infinity)) {
      this.openSessions.delete(token)
      return refuse(401, 'the session has ended')
    }
    if (method === 'DELETE') {
      this.openSessions.delete(url.split('/').at(-1)!)
      return say(204)
    }
    this.#resource(method, url, body, headers, say, refuse)
  }

  #resource(
    method: string,
    url: string,
    body: Record<string, unknown>,
    headers: IncomingMessage['headers'],
    say: (status: number, document?: object, more?: Record<string, string>) => void,
    refuse: (status: number, message: string) => void,
  ): void {
    const { habits } = this
    const weak = habits.etag === 'no weak ones' || habits.etag === 'none taken'
    const etag = `${weak ? 'W/' : ''}"${this.#version}"`
    const link = (path: string) => ({ '@odata.id': path })
    if (method === 'PATCH') {
      const match = headers['if-match']
      if (habits.etag === 'required' && match !== etag) return refuse(428, 'If-Match is needed')
      if (habits.etag === 'no weak ones' && match?.startsWith('W/')) return refuse(412, 'a weak ETag')
      if (habits.etag === 'none taken' && match !== undefined) return refuse(412, 'no ETag is taken')
    }
    switch (url) {
      case '/redfish/v1/':
        return say(200, { Systems: link('/redfish/v1/Systems') })
      case '/redfish/v1/Systems':
        return say(200, { Members: [link('/redfish/v1/Systems/1')] })
      case '/redfish/v1/Systems/1': {
        if (method === 'PATCH') {
          Object.assign(this.boot, body['Boot'])
          this.#version++
          return say(204)
        }
        const reset = { '#ComputerSystem.Reset': { target: '/redfish/v1/Systems/1/Actions/Reset' } }
        const document = {
          SerialNumber: 'SYS-1',
          Model: 'Box',
          PowerState: this.power,
          Boot: this.boot,
          ...defined({ SerialConsole: habits.serialConsole }),
          Actions: reset,
        }
        return say(200, { ...document, Links: { ManagedBy: [link('/redfish/v1/Managers/1')] } }, { etag })
      }
      case '/redfish/v1/Systems/1/Actions/Reset':
        this.power = body['ResetType'] === 'On' ? 'On' : 'Off'
        if (!habits.tasks) return say(204)
        this.#polls = 0
        return say(
          202,
          {},
          { location: `${habits.foreignLocation ? 'http://192.0.2.99' : ''}/redfish/v1/Tasks/7`, 'retry-after': '0' },
        )
      case '/redfish/v1/Tasks/7':
        return say(200, { TaskState: ++this.#polls > 2 ? 'Completed' : 'Running' })
      case '/redfish/v1/Managers/1':
        return say(200, { SerialNumber: 'BMC-1', VirtualMedia: link('/redfish/v1/Managers/1/VirtualMedia') })
      case '/redfish/v1/Managers/1/VirtualMedia':
        return say(200, {
          Members: [link('/redfish/v1/Managers/1/VirtualMedia/Floppy'), link('/redfish/v1/Managers/1/VirtualMedia/CD')],
        })
      case '/redfish/v1/Managers/1/VirtualMedia/Floppy':
        return say(200, { MediaTypes: ['Floppy'], Inserted: false })
      case '/redfish/v1/Managers/1/VirtualMedia/CD': {
        if (method === 'PATCH') {
          this.image = (body['Image'] as string | null | undefined) ?? null
          this.#version++
          return say(204)
        }
        const path = '/redfish/v1/Managers/1/VirtualMedia/CD/Actions'
        const actions = {
          '#VirtualMedia.InsertMedia': { target: `${path}/Insert` },
          '#VirtualMedia.EjectMedia': { target: `${path}/Eject` },
        }
        const document = { MediaTypes: ['CD', 'DVD'], Image: this.image, Inserted: this.image !== null }
        return say(
          200,
          { ...document, ...defined({ Actions: habits.media === 'no actions' ? undefined : actions }) },
          { etag },
        )
      }
      case '/redfish/v1/Managers/1/VirtualMedia/CD/Actions/Insert':
        if (this.image !== null) return refuse(409, 'Eject the medium first.')
        if (habits.media === 'strict properties' && Object.keys(body).length > 1)
          return refuse(400, 'unknown property Inserted')
        this.image = String(body['Image'])
        return say(204)
      case '/redfish/v1/Managers/1/VirtualMedia/CD/Actions/Eject':
        this.image = null
        return say(204)
    }
    refuse(404, `${url} is not there`)
  }
}
