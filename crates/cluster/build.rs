//! Writes the client and the server of the control plane; messages are Rust types, so that no
//! compiler of another language is needed.

use tonic_build::manual::{Builder, Method, Service};

fn main() {
    let stream = |name: &str, route: &str, from: &str, to: &str| {
        Method::builder()
            .name(name)
            .route_name(route)
            .input_type(from)
            .output_type(to)
            .codec_path("tonic_prost::ProstCodec")
            .client_streaming()
            .server_streaming()
            .build()
    };
    let coordinator = Service::builder()
        .name("Coordinator")
        .package("pantile.cluster")
        .method(stream("work", "Work", "crate::wire::WorkerReport", "crate::wire::WorkerOrder"))
        .method(stream(
            "session",
            "Session",
            "crate::wire::ClientRequest",
            "crate::wire::ClientReply",
        ))
        .build();
    let worker = Service::builder()
        .name("Worker")
        .package("pantile.cluster")
        .method(stream("attach", "Attach", "crate::wire::WorkerOrder", "crate::wire::WorkerReport"))
        .build();
    Builder::new().compile(&[coordinator, worker]);
}
