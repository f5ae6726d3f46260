// Browsers start no worker for a page that was opened from disk, and the search of the site runs in one.
// There, a hidden frame takes its place: same script, same messages. See docs/design/site.md.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      // Either side gets a copy, as between a page and a worker: both change what they hold.
      inside.postMessage = (data) => {
        const copy = structuredClone(data);
        setTimeout(() => this.onmessage?.({ data: copy }));
      };
      const script = inside.document.createElement("script");
      script.src = address;
      script.onload = () => {
        this.send = (data) => inside.dispatchEvent(new inside.MessageEvent("message", { data }));
        this.waiting.splice(0).forEach((data) => this.send(data));
      };
      script.onerror = () => this.onerror?.(new Event("error"));
      inside.document.head.append(script);
    }

    postMessage(data) {
      const copy = structuredClone(data);
      if (this.send) setTimeout(() => this.send(copy));
      else this.waiting.push(copy);
    }

    terminate() {
      this.frame.remove();
    }
  };
}
