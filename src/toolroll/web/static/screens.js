// All screens: the part of the address behind '#/', and the module that shows it, loaded when it is first needed.
// A screen is a component that gets `id` (the next part of the address) and `home` (what GET /api/home says).
// One with a label stands in the navigation, in this order.
export const SCREENS = [
  { name: "", label: "Home", icon: "home", load: () => import("./home.js").then((one) => one.Home) },
  { name: "waiting", label: "Waiting", icon: "inbox", load: () => import("./waiting.js").then((one) => one.Waiting) },
  { name: "runs", label: "Runs", icon: "runs", load: () => import("./runs.js").then((one) => one.Runs) },
  { name: "figures", load: () => import("./figures.js").then((one) => one.Figures) },
  { name: "ideas", label: "Ideas", icon: "idea", load: () => import("./ideas.js").then((one) => one.Ideas) },
  { name: "write", label: "Ghostpen", icon: "pen", load: () => import("./ghostpen.js").then((one) => one.Ghostpen) },
  { name: "settings", label: "Settings", icon: "gear", load: () => import("./settings.js").then((one) => one.Settings) },
  { name: "idea", load: () => import("./ideas.js").then((one) => one.Idea) },
  { name: "document", load: () => import("./ideas.js").then((one) => one.Document) },
  { name: "compare", load: () => import("./ideas.js").then((one) => one.Compare) },
  { name: "chat", load: () => import("./chat.js").then((one) => one.Chat) },
];

const loaded = new Map();

// The component of a screen; null as long as it is being loaded, and `onLoad` is called then.
export function findScreen(name, onLoad) {
  const screen = SCREENS.find((one) => one.name === name) || SCREENS[0];
  if (!loaded.has(screen)) {
    loaded.set(screen, null);
    screen.load().then((component) => {
      loaded.set(screen, component);
      onLoad();
    }, () => loaded.delete(screen));
  }
  return loaded.get(screen);
}
