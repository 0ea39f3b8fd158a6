//! The thread that hears when answers are ready.

use crate::link::connect;
use crate::worker::{Message, Shared};
use millstream_state::Threads;
use std::sync::Weak;
use std::time::Duration;

/// How often it looks whether it is still needed, and whether the server is still there.
const LOOKS: Duration = Duration::from_secs(1);

/// Listens until the process no longer uses the server.
pub(crate) fn listen(shared: &Weak<Shared>) {
    Threads::engines_began();
    let mut pause = Duration::from_millis(20);
    while let Some(address) = shared.upgrade().map(|shared| shared.address.clone()) {
        if let Ok(mut connection) = connect(&address) {
            pause = Duration::from_millis(20);
            // An error ends the connection; the next one begins.
            let _ = hear(shared, &mut connection);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_secs(1));
    }
    Threads::engines_ended();
}

fn hear(shared: &Weak<Shared>, connection: &mut redis::Connection) -> redis::RedisResult<()> {
    let Some(channel) = shared.upgrade().map(|shared| shared.channel()) else { return Ok(()) };
    let mut pubsub = connection.as_pubsub();
    pubsub.set_read_timeout(Some(LOOKS))?;
    pubsub.subscribe(channel)?;
    // What was said while nobody listened.
    tell(shared, Message::WakeAll);
    loop {
        match pubsub.get_message() {
            Ok(message) => {
                let key = String::from_utf8_lossy(message.get_payload_bytes()).into_owned();
                if !tell(shared, Message::Wake(key)) {
                    return Ok(());
                }
            }
            Err(error) if error.is_timeout() => {
                if shared.strong_count() == 0 {
                    return Ok(());
                }
                pubsub.ping::<redis::Value>()?;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Returns whether anybody is there to tell.
fn tell(shared: &Weak<Shared>, message: Message) -> bool {
    shared.upgrade().map(|shared| shared.say(message)).is_some()
}
