// The table of the DevTools methods that a client may send, with the parameters of each. All others are refused.

import type { CdpResult } from '../cdp.ts'
import { REASONS, RULES, type Admitted } from './rules.ts'

/**
 * - `read`: enables a domain, describes a target, or changes only what the client sees. Its result is not screened.
 * - `content`: its result holds text or pictures of a page.
 * - `script`: runs code in a page, or points at an object of it. The servers need it also between calls.
 * - `act`: acts as a person on the page or the browser. Passes only while a permitted call runs.
 */
type MethodClass = 'read' | 'content' | 'script' | 'act'

const READ = {
  'Accessibility.disable': '',
  'Accessibility.enable': '',
  'Audits.disable': '',
  'Audits.enable': '',
  'Autofill.disable': '',
  'Autofill.enable': '',
  'Autofill.setAddresses': 'addresses',
  'Browser.cancelDownload': 'guid browserContextId',
  'Browser.getVersion': '',
  'Browser.getWindowBounds': 'windowId',
  'Browser.getWindowForTarget': 'targetId',
  'Browser.setDownloadBehavior': 'behavior browserContextId downloadPath eventsEnabled',
  'CSS.disable': '',
  'CSS.enable': '',
  'DOM.disable': '',
  'DOM.enable': '',
  'DOM.getBoxModel': 'nodeId backendNodeId objectId',
  'DOM.getContentQuads': 'nodeId backendNodeId objectId',
  'DOM.getFrameOwner': 'frameId',
  'Debugger.disable': '',
  'Debugger.enable': 'maxScriptsCacheSize',
  'Debugger.resume': '',
  'Debugger.setAsyncCallStackDepth': 'maxDepth',
  'Debugger.setBlackboxExecutionContexts': 'uniqueIds',
  'Debugger.setBlackboxPatterns': 'patterns skipAnonymous',
  'Debugger.setPauseOnExceptions': 'state',
  'Debugger.setSkipAllPauses': 'skip',
  'Emulation.clearDeviceMetricsOverride': '',
  'Emulation.clearGeolocationOverride': '',
  'Emulation.setCPUThrottlingRate': 'rate',
  'Emulation.setDefaultBackgroundColorOverride': 'color',
  'Emulation.setDeviceMetricsOverride':
    'width height deviceScaleFactor mobile screenWidth screenHeight screenOrientation',
  'Emulation.setEmulatedMedia': 'media features',
  'Emulation.setFocusEmulationEnabled': 'enabled',
  'Emulation.setGeolocationOverride': 'latitude longitude accuracy',
  'Emulation.setLocaleOverride': 'locale',
  'Emulation.setTimezoneOverride': 'timezoneId',
  'Emulation.setTouchEmulationEnabled': 'enabled maxTouchPoints',
  'IO.close': 'handle',
  'Inspector.enable': '',
  'Log.clear': '',
  'Log.disable': '',
  'Log.enable': '',
  'Log.startViolationsReport': 'config',
  'Log.stopViolationsReport': '',
  'Network.disable': '',
  'Network.emulateNetworkConditions':
    'offline latency downloadThroughput uploadThroughput connectionType packetLoss packetQueueLength packetReordering',
  'Network.emulateNetworkConditionsByRule': 'offline matchedNetworkConditions emulateOfflineServiceWorker',
  'Network.enable':
    'maxTotalBufferSize maxResourceBufferSize maxPostDataSize reportDirectSocketTraffic enableDurableMessages',
  'Network.overrideNetworkState': 'offline latency downloadThroughput uploadThroughput connectionType',
  'Network.setAttachDebugStack': 'enabled',
  'Network.setBlockedURLs': 'urls urlPatterns',
  'Network.setCacheDisabled': 'cacheDisabled',
  'Page.disable': '',
  'Page.enable': 'enableFileChooserOpenedEvent',
  'Page.getFrameTree': '',
  'Page.getLayoutMetrics': '',
  'Page.getNavigationHistory': '',
  'Page.getResourceTree': '',
  'Page.setFontFamilies': 'fontFamilies forScripts',
  'Page.setInterceptFileChooserDialog': 'enabled cancel',
  'Page.setLifecycleEventsEnabled': 'enabled',
  'Page.stopLoading': '',
  'Performance.disable': '',
  'Performance.enable': 'timeDomain',
  'Performance.getMetrics': '',
  'Runtime.disable': '',
  'Runtime.discardConsoleEntries': '',
  'Runtime.enable': '',
  'Runtime.getIsolateId': '',
  'Runtime.releaseObject': 'objectId',
  'Runtime.releaseObjectGroup': 'objectGroup',
  'Runtime.removeBinding': 'name',
  'Runtime.runIfWaitingForDebugger': '',
  'Storage.getStorageKey': 'frameId',
  'Target.attachToTarget': 'targetId flatten',
  'Target.autoAttachRelated': 'targetId waitForDebuggerOnStart filter',
  'Target.detachFromTarget': 'sessionId',
  'Target.getBrowserContexts': '',
  'Target.getDevToolsTarget': 'targetId',
  'Target.getTargetInfo': 'targetId',
  'Target.getTargets': 'filter',
  'Target.setAutoAttach': 'autoAttach waitForDebuggerOnStart flatten filter',
  'Target.setDiscoverTargets': 'discover filter',
}

const CONTENT = {
  'Accessibility.getAXNodeAndAncestors': 'nodeId backendNodeId objectId',
  'Accessibility.getChildAXNodes': 'id frameId',
  'Accessibility.getFullAXTree': 'depth frameId',
  'Accessibility.getPartialAXTree': 'nodeId backendNodeId objectId fetchRelatives',
  'Accessibility.getRootAXNode': 'frameId',
  'Accessibility.queryAXTree': 'nodeId backendNodeId objectId accessibleName role',
  'IO.read': 'handle offset size',
  'Network.getRequestPostData': 'requestId',
  'Network.getResponseBody': 'requestId',
  'Page.captureScreenshot': 'format quality clip fromSurface captureBeyondViewport optimizeForSpeed',
  'Page.printToPDF':
    'landscape displayHeaderFooter printBackground scale paperWidth paperHeight marginTop marginBottom marginLeft marginRight pageRanges headerTemplate footerTemplate preferCSSPageSize transferMode generateTaggedPDF generateDocumentOutline',
}

const SCRIPT = {
  'DOM.describeNode': 'nodeId backendNodeId objectId depth pierce',
  'DOM.focus': 'nodeId backendNodeId objectId',
  'DOM.requestNode': 'objectId',
  'DOM.resolveNode': 'nodeId backendNodeId objectGroup executionContextId',
  'DOM.scrollIntoViewIfNeeded': 'nodeId backendNodeId objectId rect',
  'Page.addScriptToEvaluateOnNewDocument': 'source worldName includeCommandLineAPI runImmediately',
  'Page.createIsolatedWorld': 'frameId worldName grantUniveralAccess',
  'Page.removeScriptToEvaluateOnNewDocument': 'identifier',
  'Runtime.addBinding': 'name executionContextId executionContextName',
  'Runtime.awaitPromise': 'promiseObjectId returnByValue generatePreview',
  'Runtime.callFunctionOn':
    'functionDeclaration objectId arguments silent returnByValue generatePreview userGesture awaitPromise executionContextId objectGroup throwOnSideEffect uniqueContextId serializationOptions',
  'Runtime.evaluate':
    'expression objectGroup includeCommandLineAPI silent contextId returnByValue generatePreview userGesture awaitPromise throwOnSideEffect timeout disableBreaks replMode uniqueContextId serializationOptions',
  'Runtime.getProperties':
    'objectId ownProperties accessorPropertiesOnly generatePreview nonIndexedPropertiesOnly',
}

const ACT = {
  'Browser.setContentsSize': 'windowId width height',
  'Browser.setWindowBounds': 'windowId bounds',
  'DOM.setFileInputFiles': 'files nodeId backendNodeId objectId',
  'Emulation.setUserAgentOverride': 'userAgent acceptLanguage platform userAgentMetadata',
  'Input.cancelDragging': '',
  'Input.dispatchDragEvent': 'type x y data modifiers',
  'Input.dispatchKeyEvent':
    'type modifiers timestamp text unmodifiedText keyIdentifier code key windowsVirtualKeyCode nativeVirtualKeyCode autoRepeat isKeypad isSystemKey location commands',
  'Input.dispatchMouseEvent':
    'type x y modifiers timestamp button buttons clickCount force tangentialPressure tiltX tiltY twist deltaX deltaY pointerType',
  'Input.insertText': 'text',
  'Input.setInterceptDrags': 'enabled',
  'Network.setUserAgentOverride': 'userAgent acceptLanguage platform userAgentMetadata',
  'Page.bringToFront': '',
  'Page.close': '',
  'Page.handleJavaScriptDialog': 'accept promptText',
  'Page.navigate': 'url referrer transitionType frameId referrerPolicy',
  'Page.navigateToHistoryEntry': 'entryId',
  'Page.reload': 'ignoreCache loaderId',
  'Target.activateTarget': 'targetId',
  'Target.closeTarget': 'targetId',
  'Target.createBrowserContext': 'disposeOnDetach',
  'Target.createTarget': 'url left top width height windowState browserContextId newWindow background forTab',
  'Target.disposeBrowserContext': 'browserContextId',
}

interface MethodRow {
  readonly class: MethodClass
  readonly may: ReadonlySet<string>
}

const TABLE: ReadonlyMap<string, MethodRow> = new Map([
  ...rows('read', READ),
  ...rows('content', CONTENT),
  ...rows('script', SCRIPT),
  ...rows('act', ACT),
])

function rows(of: MethodClass, methods: Readonly<Record<string, string>>): readonly [string, MethodRow][] {
  return Object.entries(methods).map(([method, may]) => [method, { class: of, may: new Set(may.split(' ')) }])
}

// A page that waits for one of these answers nothing else, so they do not wait for their turn.
const URGENT = new Set([
  'Page.handleJavaScriptDialog',
  'Page.stopLoading',
  'Debugger.resume',
  'Runtime.runIfWaitingForDebugger',
])

/** Whether a command may overtake others of its target. */
export function isUrgent(method: string): boolean {
  return URGENT.has(method)
}

/** The class of a method; undefined if a client may not send it. */
export function classOf(method: string): MethodClass | undefined {
  return TABLE.get(method)?.class
}

/** The fate of a command: its parameters as they are sent, an answer without the browser, or why it is refused. */
export function admit(method: string, params: CdpResult): Admitted {
  const reason = REASONS.get(method)
  if (reason) return reason
  const row = TABLE.get(method)
  if (!row) return { refuse: 'it is not in the table of permitted methods' }
  const kept: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(params)) {
    if (row.may.has(name)) kept[name] = value
    // One of the servers adds its own time limit to every command, and Chromium ignores it.
    else if (name !== 'timeout')
      return { refuse: `its parameter \`${name.slice(0, 64)}\` is not in the table` }
  }
  return RULES.get(method)?.(kept) ?? { params: kept }
}
